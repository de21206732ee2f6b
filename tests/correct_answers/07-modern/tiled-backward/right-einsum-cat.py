def tiled_backward(grad, q, k, v, out, lse, tile, causal=False):
    scale = q.shape[-1] ** -0.5
    row = torch.einsum("bhtd,bhtd->bht", grad, out).unsqueeze(-1)
    parts_k, parts_v, dq = [], [], None
    for start in range(0, k.shape[2], tile):
        keys, values = k[:, :, start : start + tile], v[:, :, start : start + tile]
        scores = tile_scores(q, k, start, start + tile, causal)
        silent = scores == float("-inf")
        weights = torch.exp(scores - lse.unsqueeze(-1))
        weights = torch.where(silent, torch.zeros_like(weights), weights)
        dweights = torch.einsum("bhtd,bhsd->bhts", grad, values)
        dscores = weights * (dweights - row)
        part = torch.einsum("bhts,bhsd->bhtd", dscores, keys) * scale
        dq = part if dq is None else dq + part
        parts_k.append(torch.einsum("bhts,bhtd->bhsd", dscores, q) * scale)
        parts_v.append(torch.einsum("bhts,bhtd->bhsd", weights, grad))
    return dq, torch.cat(parts_k, dim=2), torch.cat(parts_v, dim=2)
