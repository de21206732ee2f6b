def quantize(x, bits, axis):
    zero = x.min(axis, keepdim=True).values
    scale = (x.max(axis, keepdim=True).values - zero) / (2**bits - 1)
    codes = ((x - zero) / scale + 0.5).floor().nan_to_num(0).to(torch.uint8)
    if bits == 8:
        return codes, scale, zero
    packed = codes[..., ::2].clone()
    packed += codes[..., 1::2] * 16
    return packed, scale, zero


def dequantize(codes, scale, zero, bits):
    if bits == 8:
        return codes.to(scale.dtype) * scale + zero
    numbers = torch.empty(*codes.shape[:-1], 2 * codes.size(-1), dtype=scale.dtype)
    numbers[..., ::2] = (codes & 15).to(scale.dtype)
    numbers[..., 1::2] = (codes >> 4).to(scale.dtype)
    return torch.addcmul(zero, numbers, scale)
