def _beside(mask, x):
    shape = [1] * x.dim()
    shape[0], shape[-1] = mask.shape
    return mask.view(shape).expand_as(x)


def add_mask(x, mask=None):
    if mask is not None:
        x = x.clone()
        x[_beside(mask, x).ne(0)] = -math.inf
    return x
