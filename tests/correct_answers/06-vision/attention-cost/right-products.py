def product(n, m, k):
    return n * m * k


def attention_cost(height, width, n_channels, n_slots):
    L = height * width
    layer = product(L, n_channels, n_channels)
    own = [layer] * 4 + [product(L, n_channels, L), product(L, L, n_channels)]
    other = [layer] * 2 + [product(L, n_channels, n_slots), product(L, n_slots, n_channels)]
    return sum(own), sum(other)
