def grouped_query_attention(q, k, v):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    q = q.unflatten(1, (G, H // G)) * d**-0.5
    score = torch.einsum("bgrtd,bgsd->bgrts", q, k)
    hidden = torch.arange(S).unsqueeze(0) - torch.arange(T).unsqueeze(1) > S - T
    weight = score.masked_fill(hidden, -math.inf).softmax(dim=-1)
    return torch.einsum("bgrts,bgsd->bgrtd", weight, v).flatten(1, 2)
