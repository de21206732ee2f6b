def qk_norm_attention(q, k, v, q_gain, k_gain, eps=1e-6):
    def normalised(x, gain):
        return gain * (x / torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + eps))

    d = q.shape[-1]
    scores = torch.einsum("bhtd,bhsd->bhts", normalised(q, q_gain), normalised(k, k_gain)) / math.sqrt(d)
    T, S = scores.shape[2:]
    scores = scores + torch.full((T, S), -torch.inf, dtype=scores.dtype).triu(S - T + 1)
    return torch.einsum("bhts,bhse->bhte", F.softmax(scores, dim=-1), v)
