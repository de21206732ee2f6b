def additive_score(s, h, W_a, U_a, v_a):
    inner = torch.einsum("bd,ad->ba", s, W_a)[:, None, :] + torch.einsum("bsm,am->bsa", h, U_a)
    return torch.einsum("bsa,a->bs", inner.tanh(), v_a)
