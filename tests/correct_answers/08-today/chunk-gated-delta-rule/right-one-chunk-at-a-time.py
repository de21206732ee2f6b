def chunk_gated_delta_rule(q, k, v, log_decay, beta, chunk, state=None):
    def one(Q, K, V, g, b, M):
        A = decay_mask(g)
        since = g.cumsum(-1).exp()[..., None]
        rows = (K @ K.transpose(2, 3) * A * b[..., None]).tril(-1)
        U = torch.linalg.solve_triangular(rows, b[..., None] * (V - since * (K @ M)), upper=False, unitriangular=True)
        last = A[:, :, -1:].transpose(2, 3) * K
        return since * (Q @ M) + (Q @ K.transpose(2, 3) * A) @ U, since[:, :, -1:] * M + last.transpose(2, 3) @ U

    M = state
    if M is None:
        M = k.new_zeros(k.shape[0], k.shape[1], k.shape[3], v.shape[3])
    outs = []
    for first in range(0, k.shape[2], chunk):
        piece = slice(first, first + chunk)
        out, M = one(q[:, :, piece], k[:, :, piece], v[:, :, piece], log_decay[:, :, piece], beta[:, :, piece], M)
        outs.append(out)
    return torch.cat(outs, dim=2), M
