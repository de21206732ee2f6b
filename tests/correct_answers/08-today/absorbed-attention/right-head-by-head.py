def absorbed_attention(q_c, q_r, c, k_r, w_uk, w_uv):
    T, S = q_c.size(2), c.size(1)
    future = torch.arange(S) > torch.arange(S - T, S).unsqueeze(1)
    outputs = []
    for h in range(q_c.size(1)):
        scores = q_c[:, h] @ w_uk[h].T @ c.transpose(1, 2) + q_r[:, h] @ k_r.transpose(1, 2)
        scores = scores / (q_c.size(-1) + q_r.size(-1)) ** 0.5
        weights = torch.where(future, -math.inf, scores).softmax(-1)
        outputs.append(weights @ c @ w_uv[h])
    return torch.stack(outputs, 1)
