def lstm(x, state, W_ih, W_hh, b_ih, b_hh, reverse=False):
    h, c = state
    B, L, _ = x.shape
    out = torch.zeros(B, L, h.shape[1], dtype=x.dtype)
    t = L - 1 if reverse else 0
    while 0 <= t < L:
        h, c = lstm_step(x[:, t, :], h, c, W_ih, W_hh, b_ih, b_hh)
        out[:, t] = h
        t += -1 if reverse else 1
    return out, (h, c)
