def lstm_step(x, h, c, W_ih, W_hh, b_ih, b_hh):
    D = h.shape[1]
    a = F.linear(x, W_ih, b_ih) + F.linear(h, W_hh, b_hh)
    i = torch.sigmoid(a[:, :D])
    f = torch.sigmoid(a[:, D:2 * D])
    g = torch.tanh(a[:, 2 * D:3 * D])
    o = torch.sigmoid(a[:, 3 * D:])
    new_c = torch.add(f * c, i * g)
    return [o * torch.tanh(new_c), new_c]
