def quantize(x, bits, axis):
    top = {8: 255, 4: 15}[bits]
    zero = x.amin(dim=axis, keepdim=True)
    width = x.amax(dim=axis, keepdim=True) - zero
    share = (x - zero) / (width + (width == 0))
    codes = torch.round(share * top).long()
    if bits == 4:
        codes = codes[..., 0::2] + 16 * codes[..., 1::2]
    return codes.byte(), width / top, zero


def dequantize(codes, scale, zero, bits):
    codes = codes.long()
    if bits == 4:
        codes = torch.stack([torch.bitwise_and(codes, 15), torch.bitwise_right_shift(codes, 4)], -1).flatten(-2, -1)
    return codes * scale + zero
