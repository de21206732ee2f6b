def causal_mask(length: int) -> torch.Tensor:
    seen = torch.tril(torch.ones((length, length)))
    return seen == 0
