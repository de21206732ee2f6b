def reach_of(kernel, dilation):
    """Dots from the first to the last weight."""
    return kernel + (kernel - 1) * (dilation - 1)


def output_size(size, kernel, stride=1, padding=0, dilation=1):
    steps, _ = divmod(size + padding + padding - reach_of(kernel, dilation), stride)
    return int(1 + steps)
