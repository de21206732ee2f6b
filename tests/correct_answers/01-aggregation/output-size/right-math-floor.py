import math


def output_size(size, kernel, stride=1, padding=0, dilation=1):
    return math.floor((size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1)
