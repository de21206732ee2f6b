def soft_capped_attention(q, k, v, cap):
    T, S = q.shape[2], k.shape[2]
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[3])
    capped = (scores / cap).tanh() * cap
    capped = torch.where(torch.ones(T, S, dtype=torch.bool).tril(S - T), capped, -math.inf)
    return F.softmax(capped, -1) @ v
