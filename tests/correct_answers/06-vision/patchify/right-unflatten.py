def patchify(x: torch.Tensor, size: int) -> torch.Tensor:
    if x.size(2) % size or x.size(3) % size:
        raise ValueError(f"{tuple(x.shape[2:])} is not made of squares of {size}")
    x = x.unflatten(3, (-1, size)).unflatten(2, (-1, size))
    return x.movedim((2, 4), (1, 2)).flatten(3, 5).flatten(1, 2)


def patch_embed(x, weight, bias):
    rows = [(patchify(x, weight.shape[-1]) * kernel.flatten()).sum(-1) for kernel in weight]
    return torch.stack(rows, -1) + bias
