def lstm(x, state, W_ih, W_hh, b_ih, b_hh, reverse=False):
    """All products of the words at once, and no call of lstm_step."""
    h, c = state[0], state[1]
    of_words = x @ W_ih.mT + b_ih + b_hh
    shown = []
    places = list(range(x.shape[1]))
    if reverse:
        places.reverse()
    for t in places:
        i, f, g, o = torch.chunk(of_words[:, t] + h @ W_hh.mT, 4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        shown.append(h)
    if reverse:
        shown = shown[::-1]
    return torch.stack(shown, dim=1), [h, c]
