def tiled_attention(q, k, v, tile, causal=False):
    m = q.new_full(q.shape[:-1], -math.inf)
    l = torch.zeros_like(m)
    o = torch.zeros_like(q)
    S = k.size(2)
    start = 0
    while start < S:
        stop = min(start + tile, S)
        x = tile_scores(q, k, start, stop, causal)
        top = torch.maximum(m, x.amax(-1))
        safe = torch.where(top == -math.inf, 0.0, top)
        p = torch.exp(x - safe[..., None])
        shrink = torch.exp(m - safe)
        l = shrink * l + p.sum(-1)
        o = shrink[..., None] * o + p @ v[:, :, start:stop]
        m, start = top, stop
    out = torch.where(l[..., None] > 0, o / l[..., None], torch.zeros_like(o))
    return out, m + torch.log(l)
