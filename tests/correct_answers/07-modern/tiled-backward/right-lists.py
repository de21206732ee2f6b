def tiled_backward(grad, q, k, v, out, lse, tile, causal=False):
    root = math.sqrt(q.size(-1))
    D = torch.einsum("bhtd,bhtd->bht", grad, out)[..., None]
    dQ, dK, dV = 0, [], []
    for keys, values, start in zip(k.split(tile, 2), v.split(tile, 2), range(0, k.size(2), tile)):
        x = tile_scores(q, k, start, start + tile, causal)
        P = torch.where(x == -math.inf, 0.0, (x - lse[..., None]).exp())
        dX = P * (torch.einsum("bhtd,bhsd->bhts", grad, values) - D) / root
        dQ = dQ + torch.einsum("bhts,bhsd->bhtd", dX, keys)
        dK.append(torch.einsum("bhts,bhtd->bhsd", dX, q))
        dV.append(torch.einsum("bhts,bhtd->bhsd", P, grad))
    return dQ, torch.cat(dK, 2), torch.cat(dV, 2)
