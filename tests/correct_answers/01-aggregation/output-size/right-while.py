def output_size(size, kernel, stride=1, padding=0, dilation=1):
    last = (kernel - 1) * dilation
    places = 0
    while last < size + 2 * padding:
        places += 1
        last += stride
    return places
