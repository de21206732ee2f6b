def compress(x, w_dkv, w_kr, positions):
    latents, keys = [], []
    for n in range(x.size(1)):
        latents.append(x[:, n] @ w_dkv)
        keys.append(apply_rotary((x[:, n] @ w_kr).unsqueeze(1), positions[n : n + 1]).squeeze(1))
    return torch.stack(latents, 1), torch.stack(keys, 1)


def latent_attention(q_c, q_r, c, k_r, w_uk, w_uv):
    T, S = q_c.size(2), c.size(1)
    root = math.sqrt(q_c.size(3) + q_r.size(3))
    heads = []
    for h in range(q_c.size(1)):
        k, v = c @ w_uk[h], c @ w_uv[h]
        rows = []
        for t in range(T):
            n = S - T + t + 1
            scores = (k[:, :n] * q_c[:, h, t, None]).sum(-1) + (k_r[:, :n] * q_r[:, h, t, None]).sum(-1)
            rows.append(((scores / root).softmax(-1).unsqueeze(-1) * v[:, :n]).sum(1))
        heads.append(torch.stack(rows, 1))
    return torch.stack(heads, 1)
