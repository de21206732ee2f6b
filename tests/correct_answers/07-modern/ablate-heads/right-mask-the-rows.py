def ablate_heads(weights, values, W_O, ablated=(), use_mean=False):
    B, H, L, E = values.shape
    heard = torch.matmul(weights, values)                             # (B, H, L, E)
    for h in ablated:
        heard = heard.clone()
        heard[:, h] = heard[:, h].mean(0) if use_mean else 0
    return heard.transpose(1, 2).flatten(2) @ W_O
