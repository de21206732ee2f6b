def decay_mask(log_decay):
    L = log_decay.shape[-1]
    decay = log_decay.exp()
    row = torch.zeros_like(log_decay)
    first = torch.arange(L)
    rows = []
    for t in range(L):
        row = row * decay[..., t : t + 1] + (first == t)
        rows.append(row)
    return torch.stack(rows, -2)


def masked_linear_attention(q, k, v, log_decay):
    scores = torch.einsum("bhtd,bhsd->bhts", q, k)
    return torch.einsum("bhts,bhts,bhse->bhte", scores, decay_mask(log_decay), v)
