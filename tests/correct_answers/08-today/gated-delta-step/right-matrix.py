def gated_delta_step(q, k, v, decay, beta, state):
    d = k.size(-1)
    a, b = decay[..., None, None], beta[..., None, None]
    outer = k[..., :, None] * k[..., None, :]
    new = b * k[..., :, None] * v[..., None, :]
    if state is not None:
        new = new + a * ((torch.eye(d, dtype=k.dtype) - b * outer) @ state)
    return (q[..., None, :] @ new)[..., 0, :], new
