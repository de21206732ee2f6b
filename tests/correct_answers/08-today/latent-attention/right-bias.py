def compress(x, w_dkv, w_kr, positions):
    c = torch.einsum("bld,dc->blc", x, w_dkv)
    return c, apply_rotary(torch.einsum("bld,dr->blr", x, w_kr), positions)


def latent_attention(q_c, q_r, c, k_r, w_uk, w_uv):
    scale = (q_c.shape[-1] + q_r.shape[-1]) ** -0.5
    k = torch.einsum("bsc,hcd->bhsd", c, w_uk)
    content = torch.einsum("bhtd,bhsd->bhts", q_c * scale, k)
    position = torch.einsum("bhtr,bsr->bhts", q_r * scale, k_r)
    T, S = content.shape[-2:]
    bias = torch.zeros(T, S, dtype=c.dtype)
    bias[torch.arange(S) > torch.arange(S - T, S).unsqueeze(1)] = -torch.inf
    weights = torch.softmax(content + position + bias, dim=-1)
    return torch.einsum("bhts,bsc,hce->bhte", weights, c, w_uv)
