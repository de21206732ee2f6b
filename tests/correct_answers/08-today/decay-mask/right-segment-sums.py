def decay_mask(log_decay):
    L = log_decay.shape[-1]
    rows = []
    for t in range(L):
        # The sums over s < r <= t, for all s < t: a sum from the right.
        sums = log_decay[..., 1 : t + 1].flip(-1).cumsum(-1).flip(-1)
        ones = torch.ones_like(log_decay[..., :1])
        later = torch.zeros_like(log_decay[..., t + 1 :])
        rows.append(torch.cat([sums.exp(), ones, later], -1))
    return torch.stack(rows, -2)


def masked_linear_attention(q, k, v, log_decay):
    weights = q @ k.transpose(2, 3)
    weights = weights * decay_mask(log_decay)
    return weights @ v
