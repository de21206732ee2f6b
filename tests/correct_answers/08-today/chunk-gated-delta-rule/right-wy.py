def chunk_gated_delta_rule(q, k, v, log_decay, beta, chunk, state=None):
    # As in the paper: two right-hand sides, solved before the state is known.
    B, H, L, d = k.shape
    if state is None:
        state = torch.zeros(B, H, d, v.shape[-1], dtype=k.dtype)
    outs = []
    for Q, K, V, g, b in zip(*(part.split(chunk, 2) for part in (q, k, v, log_decay, beta))):
        A = decay_mask(g)
        b = b[..., None]
        since = torch.exp(torch.cumsum(g, -1))[..., None]
        system = torch.eye(K.shape[2], dtype=K.dtype) + torch.tril(b * A * (K @ K.mT), -1)
        W, U = torch.linalg.solve_triangular(system, torch.cat([b * since * K, b * V], -1), upper=False).split(
            [d, V.shape[-1]], -1
        )
        U = U - W @ state
        outs.append(since * (Q @ state) + ((Q @ K.mT) * A) @ U)
        state = since[:, :, -1:] * state + (K * A[:, :, -1, :, None]).mT @ U
    return torch.cat(outs, 2), state
