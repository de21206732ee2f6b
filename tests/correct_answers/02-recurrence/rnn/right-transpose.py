def rnn(x, h_0, W_ih, W_hh, b_ih, b_hh):
    states = [h_0]
    for word in x.transpose(0, 1):
        states.append(rnn_step(word, states[-1], W_ih, W_hh, b_ih, b_hh))
    return torch.stack(states[1:]).transpose(0, 1), states[-1]
