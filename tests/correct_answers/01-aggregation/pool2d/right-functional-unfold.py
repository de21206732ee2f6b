def pool2d(x, kernel: int, stride: int | None = None, padding: int = 0, mode: str = "max"):
    stride = stride or kernel
    fill = {"max": -float("inf"), "mean": 0}[mode]
    x = F.pad(x, [padding] * 4, "constant", fill)
    B, C, height, width = x.shape
    windows = F.unfold(x.reshape(B * C, 1, height, width), kernel, stride=stride)     # (B * C, k * k, positions)
    pooled = {"max": torch.amax, "mean": torch.mean}[mode](windows, 1)
    return pooled.reshape(B, C, (height - kernel) // stride + 1, (width - kernel) // stride + 1)
