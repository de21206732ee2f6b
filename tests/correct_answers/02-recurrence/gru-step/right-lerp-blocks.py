def gru_step(x, h, W_ih, W_hh, b_ih, b_hh):
    W_ir, W_iz, W_in = W_ih.chunk(3)
    W_hr, W_hz, W_hn = W_hh.chunk(3)
    b_ir, b_iz, b_in = b_ih.chunk(3)
    b_hr, b_hz, b_hn = b_hh.chunk(3)
    reset = torch.sigmoid(x @ W_ir.T + b_ir + h @ W_hr.T + b_hr)
    update = torch.sigmoid(x @ W_iz.T + b_iz + h @ W_hz.T + b_hz)
    new = torch.tanh(x @ W_in.T + b_in + reset * (h @ W_hn.T + b_hn))
    return update * h + (torch.ones_like(update) - update) * new
