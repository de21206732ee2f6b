def paper_gru_step(x, h, W, U, b):
    (W_r, W_z, W_n), (U_r, U_z, U_n), (b_r, b_z, b_n) = W.chunk(3), U.chunk(3), b.chunk(3)
    r = torch.sigmoid(x @ W_r.T + h @ U_r.T + b_r)
    z = torch.sigmoid(x @ W_z.T + h @ U_z.T + b_z)
    n = torch.tanh(x @ W_n.T + torch.mul(r, h) @ U_n.T + b_n)
    return h - z * h + z * n
