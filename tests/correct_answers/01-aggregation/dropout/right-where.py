def dropout(x: torch.Tensor, p: float = 0.5, training: bool = True) -> torch.Tensor:
    if training:
        gone = torch.rand_like(x) < p
        return torch.where(gone, torch.zeros_like(x), x / max(1 - p, 1e-12))
    return x.clone()
