def absorbed_attention(q_c, q_r, c, k_r, w_uk, w_uv):
    T, S = q_c.shape[2], c.shape[1]
    asked = torch.einsum("bhtd,hcd->bhtc", q_c, w_uk)
    scores = torch.einsum("bhtc,bsc->bhts", asked, c) + torch.einsum("bhtr,bsr->bhts", q_r, k_r)
    scores = scores / math.sqrt(q_c.shape[3] + q_r.shape[3])
    scores = scores + torch.full((T, S), -math.inf, dtype=scores.dtype).triu(S - T + 1)
    weights = F.softmax(scores, -1)
    return torch.einsum("bhtc,hce->bhte", torch.einsum("bhts,bsc->bhtc", weights, c), w_uv)
