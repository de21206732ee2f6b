def apply_rotary(x, positions, base=10000.0):
    wide = x if x.dtype == torch.float64 else x.float()
    D = x.shape[-1]
    omega = 1.0 / base ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = torch.outer(positions.double(), omega).to(wide.dtype)
    turn = torch.polar(torch.ones_like(angle), angle)
    pairs = torch.view_as_complex(wide.reshape(*x.shape[:-1], D // 2, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
