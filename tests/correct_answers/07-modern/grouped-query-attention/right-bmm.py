def grouped_query_attention(q, k, v):
    B, H, T, d = q.shape
    G, S = k.shape[1:3]
    R = H // G
    rows = q.reshape(B * G, R * T, d)
    mask = torch.zeros(T, S, dtype=q.dtype)
    for t in range(T):
        mask[t, S - T + t + 1 :] = -math.inf
    score = torch.baddbmm(mask.repeat(R, 1).expand(B * G, R * T, S), rows, k.reshape(B * G, S, d).mT, alpha=1 / d**0.5)
    score = score - score.max(-1, keepdim=True).values
    count = score.exp()
    return (torch.bmm(count, v.reshape(B * G, S, d)) / count.sum(-1, keepdim=True)).reshape(B, H, T, d)
