def linear_attention_step(q, k, v, state):
    # A value with a 1 behind it carries the divisor along.
    v = torch.cat([v, torch.ones_like(v[..., :1])], -1)
    q, k = F.elu(q) + 1, F.elu(k) + 1
    both = k[..., :, None] * v[..., None, :]
    if state is not None:
        both = both + torch.cat([state[0], state[1][..., None]], -1)
    heard = (q[..., None, :] @ both)[..., 0, :]
    return heard[..., :-1] / heard[..., -1:], (both[..., :-1], both[..., -1])
