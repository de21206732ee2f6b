def gru_step(x, h, W_ih, W_hh, b_ih, b_hh):
    D = h.size(1)
    a = torch.einsum("be,kde->kbd", x, W_ih.view(3, D, -1)) + b_ih.view(3, 1, D)
    b = torch.einsum("bc,kdc->kbd", h, W_hh.view(3, D, D)) + b_hh.view(3, 1, D)
    r = 1 / (1 + torch.exp(-(a[0] + b[0])))
    z = 1 / (1 + torch.exp(-(a[1] + b[1])))
    return torch.lerp(torch.tanh(torch.addcmul(a[2], r, b[2])), h, z)
