def one_sum(frame, filter_, top, left, dilation):
    kh, kw = filter_.shape[1:]
    window = frame[:, top:top + dilation * (kh - 1) + 1:dilation, left:left + dilation * (kw - 1) + 1:dilation]
    return (window * filter_).sum()


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    frames = F.pad(x, (padding,) * 4)
    kh, kw = weight.shape[2], weight.shape[3]
    rows = (frames.shape[2] - dilation * (kh - 1) - 1) // stride + 1
    columns = (frames.shape[3] - dilation * (kw - 1) - 1) // stride + 1
    y = torch.zeros(len(x), len(weight), rows, columns, dtype=x.dtype)
    for b, frame in enumerate(frames):
        for o, filter_ in enumerate(weight):
            for i in range(rows):
                for j in range(columns):
                    y[b, o, i, j] = one_sum(frame, filter_, i * stride, j * stride, dilation)
            if bias is not None:
                y[b, o] += bias[o]
    return y
