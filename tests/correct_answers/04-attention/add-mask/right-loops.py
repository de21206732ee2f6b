def add_mask(x, mask=None):
    out = x.clone()
    if mask is None:
        return out
    for b in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if mask[b, j] != 0:
                out[b, ..., j] = -torch.inf
    return out
