def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    B, C, height, width = x.shape
    out_channels, _, kh, kw = weight.shape
    frame = x.new_zeros(B, C, height + 2 * padding, width + 2 * padding)
    frame[:, :, padding:padding + height, padding:padding + width] = x
    reach_h, reach_w = dilation * (kh - 1) + 1, dilation * (kw - 1) + 1
    rows = []
    for top in range(0, frame.shape[2] - reach_h + 1, stride):
        row = []
        for left in range(0, frame.shape[3] - reach_w + 1, stride):
            window = frame[:, None, :, top:top + reach_h:dilation, left:left + reach_w:dilation]   # (B, 1, C, kh, kw)
            row.append((window * weight).sum((2, 3, 4)))                                           # (B, out)
        rows.append(torch.stack(row, dim=-1))
    result = torch.stack(rows, dim=-2)
    return result if bias is None else result + bias.reshape(1, -1, 1, 1)
