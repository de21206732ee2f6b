def tiled_attention(q, k, v, tile, causal=False):
    T, S = q.shape[2], k.shape[2]
    outs, lses = [], []
    for top in range(0, T, tile):
        rows = q[:, :, top : top + tile]
        m = torch.full(rows.shape[:3], -math.inf, dtype=q.dtype)
        l, o = torch.zeros_like(m), torch.zeros_like(rows)
        for start in range(0, S, tile):
            x = rows @ k[:, :, start : start + tile].transpose(-1, -2) / math.sqrt(q.shape[-1])
            if causal:
                t = torch.arange(top, top + rows.shape[2]).unsqueeze(1) + S - T
                x = x.masked_fill(torch.arange(start, start + x.shape[3]) > t, -math.inf)
            new = torch.maximum(m, x.amax(-1))
            safe = torch.where(new == -math.inf, torch.zeros_like(new), new)
            p = torch.exp(x - safe.unsqueeze(-1))
            old = torch.exp(m - safe)
            l = l * old + p.sum(-1)
            o = o * old.unsqueeze(-1) + p @ v[:, :, start : start + tile]
            m = new
        outs.append(o / torch.where(l == 0, torch.ones_like(l), l).unsqueeze(-1))
        lses.append(m + torch.log(l))
    return torch.cat(outs, 2), torch.cat(lses, 2)
