def differential_attention(q, k, v, lam):
    out = []
    for h in range(v.size(1)):
        maps = [causal_scores(q[i][:, h], k[i][:, h]).softmax(dim=-1) for i in range(2)]
        out.append(torch.matmul(maps[0] - lam[h] * maps[1], v[:, h]))
    return torch.stack(out, dim=1)
