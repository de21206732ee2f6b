def flex_mask_mod(T, S, window, padding):
    visible = ~padding.bool()

    def mask_mod(b, h, q_idx, kv_idx):
        position = q_idx + S - T
        attends = (kv_idx <= position) & visible[b, kv_idx]
        if window is not None:
            attends = attends & (position - kv_idx < window)
        return attends

    return mask_mod


def sdpa_mask(T, S, window, padding):
    B = padding.size(0)
    mod = flex_mask_mod(T, S, window, padding)
    return mod(torch.arange(B).view(B, 1, 1, 1), 0, torch.arange(T).view(T, 1), torch.arange(S))
