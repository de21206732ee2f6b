def chunk_gated_delta_rule(q, k, v, log_decay, beta, chunk, state=None):
    out = []
    start = 0
    while start < q.size(2):
        stop = min(start + chunk, q.size(2))
        Q, K, V = q[:, :, start:stop], k[:, :, start:stop], v[:, :, start:stop]
        A = decay_mask(log_decay[:, :, start:stop])
        B = beta[:, :, start:stop, None]
        G = log_decay[:, :, start:stop].cumsum(2).exp().unsqueeze(3)
        N = torch.einsum("bhid,bhjd->bhij", B * K, K) * A
        N = N.masked_fill(torch.ones(stop - start, stop - start).triu().bool(), 0.0)
        target = V if state is None else V - G * (K @ state)
        U = torch.linalg.inv(torch.eye(stop - start, dtype=N.dtype) + N) @ (B * target)
        heard = (A * torch.einsum("bhid,bhjd->bhij", Q, K)) @ U
        new = torch.einsum("bhj,bhjd,bhje->bhde", A[:, :, -1], K, U)
        if state is not None:
            heard = heard + G * (Q @ state)
            new = new + G[:, :, -1:] * state
        out.append(heard)
        state = new
        start = stop
    return torch.cat(out, 2), state
