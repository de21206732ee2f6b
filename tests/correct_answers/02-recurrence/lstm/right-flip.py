def lstm(x, state, W_ih, W_hh, b_ih, b_hh, reverse=False):
    if reverse:
        x = x.flip(1)
    h, c = state
    states = []
    for word in x.unbind(1):
        h, c = lstm_step(word, h, c, W_ih, W_hh, b_ih, b_hh)
        states.append(h.unsqueeze(1))
    out = torch.cat(states, dim=1)
    return (out.flip(1) if reverse else out), (h, c)
