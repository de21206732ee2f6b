def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    out, _, kh, kw = weight.shape
    x = F.pad(x, (padding,) * 4).permute(0, 2, 3, 1)                  # (B, height, width, C)
    rows = (x.size(1) - dilation * (kh - 1) - 1) // stride + 1
    columns = (x.size(2) - dilation * (kw - 1) - 1) // stride + 1
    parts = []
    for u in range(kh):
        for v in range(kw):
            top, left = dilation * u, dilation * v
            part = x[:, top:top + stride * (rows - 1) + 1:stride, left:left + stride * (columns - 1) + 1:stride]
            parts.append(part)
    stacked = torch.cat(parts, dim=-1)                                # (B, rows, columns, kh * kw * C)
    flat = weight.permute(0, 2, 3, 1).reshape(out, -1)
    return F.linear(stacked, flat, bias).movedim(-1, 1)
