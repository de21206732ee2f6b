def gru_step(x, h, W_ih, W_hh, b_ih, b_hh):
    D = h.shape[1]
    a, b = F.linear(x, W_ih, b_ih), F.linear(h, W_hh, b_hh)
    gates = torch.sigmoid(a[:, :2 * D] + b[:, :2 * D])
    r, z = gates[:, :D], gates[:, D:]
    n = (a[:, 2 * D:] + r * b[:, 2 * D:]).tanh()
    return n + z * (h - n)
