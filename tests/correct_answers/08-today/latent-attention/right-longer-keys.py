def compress(x, w_dkv, w_kr, positions):
    both = x @ torch.cat([w_dkv, w_kr], 1)
    c, k_r = both.split([w_dkv.size(1), w_kr.size(1)], -1)
    return c.contiguous(), apply_rotary(k_r, positions)


def latent_attention(q_c, q_r, c, k_r, w_uk, w_uv):
    B, H, T, _ = q_c.shape
    S = c.size(1)
    k = torch.cat([torch.einsum("bsc,hcd->bhsd", c, w_uk), k_r.unsqueeze(1).expand(B, H, S, -1)], -1)
    v = torch.einsum("bsc,hce->bhse", c, w_uv)
    attended = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    return F.scaled_dot_product_attention(torch.cat([q_c, q_r], -1), k, v, attn_mask=attended)
