def knock_out(weights, values, W_O, silent=(), by_mean=False):
    B, H, L, E = values.shape
    out = torch.zeros(B, L, W_O.shape[1])
    for h in range(H):
        if h in silent and not by_mean:
            continue
        said = weights[:, h].bmm(values[:, h]) @ W_O[h * E : (h + 1) * E]
        out = out + (said.mean(dim=0) if h in silent else said)
    return out
