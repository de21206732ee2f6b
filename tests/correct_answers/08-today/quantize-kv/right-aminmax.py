def quantize(x, bits, axis):
    low, high = torch.aminmax(x, dim=axis, keepdim=True)
    n_steps = 2**bits - 1
    scale = (high - low) / n_steps
    divisor = torch.where(scale > 0, scale, torch.ones_like(scale))
    codes = torch.clamp(torch.round((x - low) / divisor), 0, n_steps).to(torch.uint8)
    if bits == 4:
        pairs = codes.unflatten(-1, (-1, 2))
        codes = pairs[..., 0] + 16 * pairs[..., 1]
    return codes, scale, low


def dequantize(codes, scale, zero, bits):
    if bits == 4:
        low, high = codes % 16, codes // 16
        codes = torch.stack((low, high), dim=-1).reshape(*codes.shape[:-1], -1)
    return zero + scale * codes.to(scale.dtype)
