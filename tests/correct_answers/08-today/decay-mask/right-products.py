def decay_mask(log_decay):
    L = log_decay.size(-1)
    strictly = torch.ones(L, L).tril(-1).bool()
    factors = torch.where(strictly, log_decay.exp().unsqueeze(-1), torch.ones((), dtype=log_decay.dtype))
    columns = []
    product = torch.ones_like(factors[..., 0, :])
    for t in range(L):
        product = product * factors[..., t, :]
        columns.append(product)
    return torch.stack(columns, -2).tril()


def masked_linear_attention(q, k, v, log_decay):
    return torch.matmul(torch.matmul(q, k.mT) * decay_mask(log_decay), v)
