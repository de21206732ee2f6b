def _coins(shape, p):
    return torch.empty(shape).uniform_() < p


def dropout(x, p=0.5, training=True):
    if not training:
        return x
    if p >= 1:
        return torch.zeros_like(x)
    return x.masked_fill(_coins(x.shape, p), 0) / (1 - p)
