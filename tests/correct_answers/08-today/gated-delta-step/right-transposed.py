def gated_delta_step(q, k, v, decay, beta, state):
    # As in the paper: S is the transpose of M.
    S = torch.zeros(*v.shape, k.size(-1), dtype=k.dtype) if state is None else state.mT
    S = S * decay.unsqueeze(-1).unsqueeze(-1)
    error = v - (S * k.unsqueeze(-2)).sum(-1)
    S = S + (beta.unsqueeze(-1) * error).unsqueeze(-1) * k.unsqueeze(-2)
    return (S * q.unsqueeze(-2)).sum(-1), S.mT
