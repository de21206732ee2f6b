def rnn_step(x, h, W_ih, W_hh, b_ih, b_hh):
    columns = W_ih @ x.T + b_ih[:, None] + W_hh @ h.T + b_hh[:, None]
    e = torch.exp(-2 * columns.abs())
    return (columns.sign() * (1 - e) / (1 + e)).T
