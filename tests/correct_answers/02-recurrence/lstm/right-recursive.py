def lstm(x, state, W_ih, W_hh, b_ih, b_hh, reverse=False):
    weights = (W_ih, W_hh, b_ih, b_hh)
    if x.size(1) == 1:
        new = lstm_step(x[:, 0], *state, *weights)
        return new[0][:, None], tuple(new)
    first, rest = (x[:, -1:], x[:, :-1]) if reverse else (x[:, :1], x[:, 1:])
    out_first, state = lstm(first, state, *weights, reverse=reverse)
    out_rest, state = lstm(rest, state, *weights, reverse=reverse)
    return torch.cat([out_rest, out_first] if reverse else [out_first, out_rest], dim=1), state
