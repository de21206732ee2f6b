def bilinear_score(s, h, W_a):
    words = h @ W_a.transpose(0, 1)          # (B, S, M) @ (M, D) -> (B, S, D)
    return (words * s[:, None]).sum(dim=2)
