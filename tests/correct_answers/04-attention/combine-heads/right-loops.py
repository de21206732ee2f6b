def combine_heads(x):
    B, H, L, d_head = x.shape
    out = torch.zeros(B, L, H * d_head, dtype=x.dtype)
    for h in range(H):
        out[:, :, h * d_head:(h + 1) * d_head] = x[:, h]
    return out
