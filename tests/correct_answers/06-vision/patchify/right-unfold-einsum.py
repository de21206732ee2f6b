def patchify(x, size):
    B, C, height, width = x.shape
    if (height // size) * size != height or (width // size) * size != width:
        raise ValueError("size must divide height and width")
    cut = x.unfold(2, size, size).unfold(3, size, size)
    return torch.einsum("bcrspq->brscpq", cut).reshape(B, -1, C * size ** 2)


def patch_embed(x, weight, bias):
    flat = patchify(x, weight.shape[-1])
    return torch.einsum("bln,dn->bld", flat, weight.reshape(len(weight), -1)) + bias[None, None]
