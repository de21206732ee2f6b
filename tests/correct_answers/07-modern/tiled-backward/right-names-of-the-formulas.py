def tiled_backward(grad, q, k, v, out, lse, tile, causal=False):
    root = math.sqrt(q.shape[-1])
    dO, O = grad, out
    dQ, dK, dV = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    D = (dO * O).sum(-1, keepdim=True)
    lse = torch.where(torch.isinf(lse), torch.zeros_like(lse), lse)
    for start in range(0, k.shape[2], tile):
        stop = min(start + tile, k.shape[2])
        K, V = k[:, :, start:stop], v[:, :, start:stop]
        X = tile_scores(q, k, start, stop, causal)
        P = torch.exp(X - lse.unsqueeze(-1))
        dV[:, :, start:stop] = P.transpose(-2, -1) @ dO
        dP = dO @ V.transpose(-2, -1)
        dX = P * (dP - D)
        dQ = dQ + dX @ K / root
        dK[:, :, start:stop] = dX.transpose(-2, -1) @ q / root
    return dQ, dK, dV
