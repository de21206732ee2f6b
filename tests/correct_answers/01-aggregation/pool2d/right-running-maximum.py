def pool2d(x, kernel, stride=None, padding=0, mode="max"):
    step = kernel if stride is None else stride
    frame = F.pad(x, (padding,) * 4, value=-torch.inf if mode == "max" else 0.0)
    rows, columns = ((side - kernel) // step + 1 for side in frame.shape[2:])
    shifted = [
        frame[..., u:u + step * (rows - 1) + 1:step, v:v + step * (columns - 1) + 1:step]
        for u in range(kernel) for v in range(kernel)
    ]
    if mode == "mean":
        return sum(shifted) / len(shifted)
    best = shifted[0]
    for other in shifted[1:]:
        best = torch.maximum(best, other)
    return best
