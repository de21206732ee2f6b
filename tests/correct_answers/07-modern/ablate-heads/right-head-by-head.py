def ablate_heads(weights, values, W_O, ablated=(), use_mean=False):
    B, H, L, E = values.shape
    out = torch.zeros(B, L, W_O.shape[1])
    for h in range(H):
        if h in ablated and not use_mean:
            continue
        output = weights[:, h].bmm(values[:, h]) @ W_O[h * E : (h + 1) * E]
        out = out + (output.mean(dim=0) if h in ablated else output)
    return out
