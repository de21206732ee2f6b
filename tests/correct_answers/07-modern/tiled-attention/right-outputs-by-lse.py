def tiled_attention(q, k, v, tile, causal=False):
    out, lse = None, None
    for start in range(0, k.size(2), tile):
        x = tile_scores(q, k, start, start + tile, causal)
        new_lse = x.logsumexp(-1)
        new_out = x.softmax(-1).nan_to_num(0) @ v[:, :, start : start + tile]
        if out is None:
            out, lse = new_out, new_lse
        else:
            both = torch.logaddexp(lse, new_lse)
            known = both.masked_fill(both == -math.inf, 0)
            out = out * (lse - known).exp().unsqueeze(-1) + new_out * (new_lse - known).exp().unsqueeze(-1)
            lse = both
    return out, lse
