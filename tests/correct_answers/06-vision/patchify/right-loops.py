def patchify(x, size):
    height, width = x.shape[-2:]
    if height % size != 0:
        raise ValueError(f"height {height} is not a multiple of {size}")
    if width % size != 0:
        raise ValueError(f"width {width} is not a multiple of {size}")
    found = []
    for top in range(0, height, size):
        for left in range(0, width, size):
            found.append(x[:, :, top:top + size, left:left + size].flatten(1))
    return torch.stack(found, dim=1)


def patch_embed(x, weight, bias):
    return patchify(x, weight.size(2)) @ weight.reshape(weight.size(0), -1).T + bias
