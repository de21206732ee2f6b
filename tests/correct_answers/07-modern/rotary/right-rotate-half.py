def apply_rotary(x, positions, base=10000.0):
    D = x.shape[-1]
    speed = torch.exp(-math.log(base) * torch.arange(0, D, 2).float() / D)
    angle = (positions.float()[:, None] * speed[None, :]).repeat_interleave(2, dim=-1)     # (L, D)
    other = torch.empty_like(x)
    other[..., 0::2] = -x[..., 1::2]
    other[..., 1::2] = x[..., 0::2]
    return (x * angle.cos() + other * angle.sin()).to(x.dtype)
