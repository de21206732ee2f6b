def qk_norm_attention(q, k, v, q_gain, k_gain, eps=1e-6):
    d, T, S = q.size(-1), q.size(2), k.size(2)
    q_size = (q.pow(2).sum(-1) / d + eps).sqrt().unsqueeze(-1)
    k_size = (k.pow(2).sum(-1) / d + eps).sqrt().unsqueeze(-2)
    scores = (q * (q_gain * k_gain)) @ k.mT / q_size / k_size / d**0.5
    rows = []
    for t in range(T):
        n = S - T + t + 1
        rows.append(scores[:, :, t : t + 1, :n].softmax(-1) @ v[:, :, :n])
    return torch.cat(rows, 2)
