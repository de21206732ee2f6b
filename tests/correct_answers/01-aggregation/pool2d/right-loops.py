def pool2d(x, kernel, stride=None, padding=0, mode="max"):
    if stride is None:
        stride = kernel
    B, C, height, width = x.shape
    if mode == "max":
        frame = x.new_full((B, C, height + 2 * padding, width + 2 * padding), -torch.inf)
    else:
        frame = x.new_zeros((B, C, height + 2 * padding, width + 2 * padding))
    frame[:, :, padding:height + padding, padding:width + padding] = x
    rows = (frame.shape[2] - kernel) // stride + 1
    columns = (frame.shape[3] - kernel) // stride + 1
    out = x.new_empty(B, C, rows, columns)
    for i in range(rows):
        for j in range(columns):
            window = frame[:, :, i * stride:i * stride + kernel, j * stride:j * stride + kernel].flatten(2)
            out[:, :, i, j] = window.max(-1).values if mode == "max" else window.sum(-1) / kernel**2
    return out
