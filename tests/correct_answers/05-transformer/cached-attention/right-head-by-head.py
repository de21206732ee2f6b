def cached_attention(x, cache, in_weight, in_bias, out_weight, out_bias, n_heads):
    D = x.size(1)
    W_q, W_k, W_v = in_weight[:D], in_weight[D : 2 * D], in_weight[2 * D :]
    b_q, b_k, b_v = in_bias[:D], in_bias[D : 2 * D], in_bias[2 * D :]
    q = x @ W_q.T + b_q
    empty = x.new_zeros(x.size(0), 0, D)
    old_keys, old_values = cache if cache else (empty, empty)
    keys = torch.cat([old_keys, (x @ W_k.T + b_k).unsqueeze(1)], dim=1)
    values = torch.cat([old_values, (x @ W_v.T + b_v).unsqueeze(1)], dim=1)
    answers = []
    head_dim = D // n_heads
    for h in range(n_heads):
        part = slice(h * head_dim, (h + 1) * head_dim)
        score = (keys[:, :, part] * q[:, None, part]).sum(-1) / math.sqrt(head_dim)
        score = (score - score.max(1, keepdim=True).values).exp()
        weight = score / score.sum(1, keepdim=True)
        answers.append((weight.unsqueeze(-1) * values[:, :, part]).sum(1))
    out = torch.cat(answers, dim=-1) @ out_weight.T + out_bias
    return out, [keys, values]
