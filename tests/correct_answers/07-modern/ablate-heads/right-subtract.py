def ablate_heads(weights, values, W_O, ablated=(), use_mean=False):
    B, H, L, E = values.shape
    heard = weights @ values
    whole = heard.transpose(1, 2).reshape(B, L, H * E) @ W_O
    for h in ablated:
        term = heard[:, h] @ W_O[h * E : (h + 1) * E]
        whole = whole - term
        if use_mean:
            whole = whole + term.mean(0)
    return whole
