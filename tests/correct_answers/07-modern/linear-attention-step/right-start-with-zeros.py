def linear_attention_step(q, k, v, state):
    B, H, d = k.shape
    if state is None:
        state = q.new_zeros(B, H, d, v.size(-1)), q.new_zeros(B, H, d)
    M, z = state
    q, k = (F.elu(x) + 1.0 for x in (q, k))
    M = M + torch.matmul(k.unsqueeze(3), v.unsqueeze(2))
    z = z.add(k)
    weighted = (q.unsqueeze(3) * M).sum(2)
    return weighted / torch.sum(q * z, dim=2).unsqueeze(2), (M, z)
