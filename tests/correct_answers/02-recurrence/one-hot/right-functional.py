def one_hot(numbers: torch.Tensor, n: int) -> torch.Tensor:
    return F.one_hot(numbers, num_classes=n).to(torch.float32)
