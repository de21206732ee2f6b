def one_hot(ids: torch.Tensor, n: int) -> torch.Tensor:
    return F.one_hot(ids, num_classes=n).to(torch.float32)
