def causal_mask(length: int) -> torch.Tensor:
    rows = []
    for t in range(length):
        rows.append([j > t for j in range(length)])
    return torch.tensor(rows, dtype=torch.bool)
