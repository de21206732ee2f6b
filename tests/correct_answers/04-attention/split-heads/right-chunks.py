def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """One chunk of the features for each head, stacked on a new axis."""
    return torch.stack(torch.chunk(x, n_heads, dim=-1), dim=1)
