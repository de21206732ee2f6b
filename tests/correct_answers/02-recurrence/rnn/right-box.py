def rnn(x, h_0, W_ih, W_hh, b_ih, b_hh):
    B, L, _ = x.shape
    out = x.new_zeros(B, L, h_0.shape[1])
    h = h_0.clone()
    for t in range(L):
        h = torch.tanh(x[:, t] @ W_ih.t() + h @ W_hh.t() + b_ih + b_hh)
        out[:, t] = h
    return out, h
