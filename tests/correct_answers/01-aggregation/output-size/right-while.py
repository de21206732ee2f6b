def output_size(size, kernel, stride=1, padding=0, dilation=1):
    last = (kernel - 1) * dilation
    positions = 0
    while last < size + 2 * padding:
        positions += 1
        last += stride
    return positions
