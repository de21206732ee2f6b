def equivalent_weights(weights, values):
    equations = torch.cat([values, torch.ones(len(values), 1, dtype=values.dtype)], dim=1)
    Q, _ = torch.linalg.qr(equations, mode="complete")                       # (L, L)
    rank = int(torch.linalg.matrix_rank(equations))
    d = Q[:, -1] if rank == equations.size(1) else torch.linalg.eigh(equations @ equations.T).eigenvectors[:, 0]
    ratios = weights / -d
    ratios[d >= 0] = float("inf")
    return torch.clamp(weights + ratios.min() * d, min=0.0)
