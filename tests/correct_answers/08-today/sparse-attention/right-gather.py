def lightning_index(q_index, k_index, head_weights):
    return torch.einsum("bjt,bjts->bts", head_weights, torch.einsum("bjtc,bsc->bjts", q_index, k_index).clamp(min=0))


def sparse_attention(q, k, v, index, n):
    B, H, T, d = q.shape
    S = k.size(1)
    hidden = torch.arange(S) > torch.arange(S - T, S).unsqueeze(1)
    top, where = index.masked_fill(hidden, float("-inf")).topk(min(n, S), dim=-1)
    flat = where.flatten(1).unsqueeze(-1)
    keys = k.gather(1, flat.expand(-1, -1, d)).unflatten(1, (T, -1))
    values = v.gather(1, flat.expand(-1, -1, v.size(-1))).unflatten(1, (T, -1))
    scores = torch.einsum("bhtd,btnd->bhtn", q, keys) / math.sqrt(d)
    scores = scores.masked_fill(top.isinf().unsqueeze(1), float("-inf"))
    return torch.einsum("bhtn,btne->bhte", scores.softmax(-1), values)
