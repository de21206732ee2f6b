def rnn_step(x, h, W_ih, W_hh, b_ih, b_hh):
    return (F.linear(x, W_ih, b_ih) + F.linear(h, W_hh, b_hh)).tanh()
