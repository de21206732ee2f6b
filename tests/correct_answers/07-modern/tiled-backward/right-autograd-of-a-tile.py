def tiled_backward(grad, q, k, v, out, lse, tile, causal=False):
    D = (grad * out).sum(-1, keepdim=True)
    dq, dk, dv = torch.zeros_like(q), torch.empty_like(k), torch.empty_like(v)
    for start in range(0, k.size(2), tile):
        stop = min(start + tile, k.size(2))
        with torch.enable_grad():
            rows = q.detach().requires_grad_()
            keys = k[:, :, start:stop].detach().requires_grad_()
            T, S = q.size(2), k.size(2)
            x = rows @ keys.mT / q.size(-1) ** 0.5
        hidden = torch.zeros(T, stop - start, dtype=torch.bool)
        if causal:
            hidden = torch.arange(start, stop) > torch.arange(S - T, S)[:, None]
        weights = (x.detach() - lse[..., None]).exp().masked_fill(hidden, 0)
        dv[:, :, start:stop] = weights.mT @ grad
        dx = weights * (grad @ v[:, :, start:stop].mT - D)
        row_part, dk[:, :, start:stop] = torch.autograd.grad(x, (rows, keys), dx)
        dq += row_part
    return dq, dk, dv
