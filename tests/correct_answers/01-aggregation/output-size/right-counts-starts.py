def output_size(size: int, kernel: int, stride: int = 1, padding: int = 0, dilation: int = 1) -> int:
    reach = dilation * (kernel - 1) + 1
    starts = [start for start in range(-padding, size + padding, stride) if start + reach <= size + padding]
    return len(starts)
