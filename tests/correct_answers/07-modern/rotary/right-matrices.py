def apply_rotary(x, positions, base=10000.0):
    L, D = x.shape[-2:]
    matrices = torch.zeros(L, D, D, dtype=torch.float64)
    for i in range(D // 2):
        angle = positions.double() / base ** (2 * i / D)
        matrices[:, 2 * i, 2 * i] = matrices[:, 2 * i + 1, 2 * i + 1] = torch.cos(angle)
        matrices[:, 2 * i + 1, 2 * i] = torch.sin(angle)
        matrices[:, 2 * i, 2 * i + 1] = -torch.sin(angle)
    return torch.einsum("lij,...lj->...li", matrices, x.double()).to(x.dtype)
