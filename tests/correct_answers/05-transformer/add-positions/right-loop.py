def add_positions(x):
    out = x.clone()
    P = positional_encoding(x.shape[1], x.shape[2]).to(x.dtype)
    for b in range(len(x)):
        for l in range(x.shape[1]):
            out[b, l] = x[b, l] + P[l]
    return out
