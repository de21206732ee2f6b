def sdpa_mask(T, S, window, padding):
    mask = torch.zeros(len(padding), 1, T, S, dtype=torch.bool)
    for t in range(T):
        end = S - T + t + 1
        begin = 0 if window is None else max(0, end - window)
        mask[:, 0, t, begin:end] = padding[:, begin:end] == 0
    return mask


def flex_mask_mod(T, S, window, padding):
    def causal(b, h, q_idx, kv_idx):
        return q_idx + (S - T) >= kv_idx

    def near(b, h, q_idx, kv_idx):
        return q_idx + (S - T) < kv_idx + (window or S)

    def text(b, h, q_idx, kv_idx):
        return padding[b, kv_idx] == 0

    return lambda *at: torch.logical_and(torch.logical_and(causal(*at), near(*at)), text(*at))
