def chunk_gated_delta_rule(q, k, v, log_decay, beta, chunk, state=None):
    # The system is solved by hand: a loop over the tokens of a chunk, which keeps corrections, but no states.
    M = k.new_zeros(*k.shape[:2], k.size(-1), v.size(-1)) if state is None else state
    outs = []
    for Q, K, V, g, b in zip(*(part.split(chunk, 2) for part in (q, k, v, log_decay, beta))):
        A, since = decay_mask(g), g.cumsum(-1).exp().unsqueeze(-1)
        right = b.unsqueeze(-1) * (V - since * (K @ M))
        N = b.unsqueeze(-1) * A * (K @ K.mT)
        rows = []
        for i in range(K.size(2)):
            rows.append(right[:, :, i] - sum(N[:, :, i, j, None] * rows[j] for j in range(i)))
        U = torch.stack(rows, 2)
        outs.append(since * (Q @ M) + (A * (Q @ K.mT)) @ U)
        M = since[:, :, -1:] * M + (A[:, :, -1].unsqueeze(-1) * K).mT @ U
    return torch.cat(outs, 2), M
