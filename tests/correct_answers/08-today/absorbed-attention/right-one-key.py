def absorbed_attention(q_c, q_r, c, k_r, w_uk, w_uv):
    B, H, T, d = q_c.shape
    S = c.size(1)
    query = torch.cat([torch.einsum("bhtd,hcd->bhtc", q_c, w_uk), q_r], -1).reshape(B, H * T, -1)
    key = torch.cat([c, k_r], -1)
    scores = torch.bmm(query, key.transpose(1, 2)) * (d + q_r.size(-1)) ** -0.5
    visible = torch.ones(T, S, dtype=torch.bool).tril(S - T).repeat(H, 1)
    weights = scores.masked_fill(~visible, float("-inf")).softmax(-1)
    heard = torch.bmm(weights, c).reshape(B, H, T, -1)
    return torch.stack([heard[:, h] @ w_uv[h] for h in range(H)], 1)
