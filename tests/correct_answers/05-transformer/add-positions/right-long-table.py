def add_positions(x: torch.Tensor) -> torch.Tensor:
    table = positional_encoding(max(64, x.size(1)), x.size(-1))
    table.requires_grad_(False)
    return (x + table[: x.size(1), :].unsqueeze(0)).to(dtype=x.dtype)
