def paper_gru_step(x, h, W, U, b):
    D = h.shape[-1]
    x_r, x_z, x_n = torch.split(F.linear(x, W, b), D, dim=1)
    r = (x_r + F.linear(h, U[:D])).sigmoid()
    z = (x_z + F.linear(h, U[D:2 * D])).sigmoid()
    n = (x_n + F.linear(r * h, U[2 * D:])).tanh()
    return torch.lerp(h, n, z)
