def tiled_attention(q, k, v, tile, causal=False):
    B, H, T, d = q.shape
    S = k.size(2)
    out, lse = torch.zeros_like(q), q.new_full((B, H, T), -math.inf)
    for first in range(0, T, tile):
        rows = q[:, :, first : first + tile]
        places = torch.arange(first, first + rows.size(2)) + S - T
        summary = None
        for start in range(0, S, tile):
            if causal and start > int(places[-1]):
                break
            keys = k[:, :, start : start + tile]
            scores = torch.einsum("bhtd,bhsd->bhts", rows, keys) / math.sqrt(d)
            if causal:
                future = torch.arange(start, start + keys.size(2)) > places[:, None]
                scores = scores.masked_fill(future, -math.inf)
            new = summarise(scores, v[:, :, start : start + tile])
            summary = merge(summary, new) if summary else new
        if summary is not None:
            m, l, o = summary
            out[:, :, first : first + tile] = o / torch.where(l > 0, l, 1.0).unsqueeze(-1)
            lse[:, :, first : first + tile] = m + l.log()
    return out, lse
