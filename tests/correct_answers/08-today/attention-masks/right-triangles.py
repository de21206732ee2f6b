def sdpa_mask(T, S, window, padding):
    attended = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    if window is not None:
        attended = attended.triu(S - T - window + 1)
    return attended.unsqueeze(0).unsqueeze(0).logical_and(padding.eq(0).unsqueeze(1).unsqueeze(1))


def flex_mask_mod(T, S, window, padding):
    table = sdpa_mask(T, S, window, padding)

    def mask_mod(b, h, q_idx, kv_idx):
        return table[b, 0, q_idx, kv_idx]

    return mask_mod
