def differential_attention(q, k, v, lam):
    T, S = q.shape[-2], k.shape[-2]
    scores = torch.einsum("ibhtd,ibhsd->ibhts", q, k) / math.sqrt(q.shape[-1])
    hidden = torch.arange(S) > torch.arange(S - T, S)[:, None]
    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    signs = torch.stack([torch.ones_like(lam), -lam])
    return torch.einsum("ih,ibhts,bhse->bhte", signs, weights, v)
