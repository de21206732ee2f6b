def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    out, C, kh, kw = weight.shape
    columns = F.unfold(x, (kh, kw), dilation=dilation, padding=padding, stride=stride)     # (B, C * kh * kw, positions)
    result = weight.reshape(out, -1) @ columns                                             # (B, out, positions)
    if bias is not None:
        result = result + bias.unsqueeze(-1)
    rows = (x.shape[-2] + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    return result.reshape(x.shape[0], out, rows, -1)
