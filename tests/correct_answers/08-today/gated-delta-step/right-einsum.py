def gated_delta_step(q, k, v, decay, beta, state):
    if state is None:
        state = torch.zeros(*k.shape, v.shape[-1], dtype=k.dtype)
    state = torch.einsum("bh,bhij->bhij", decay, state)
    wrong = v - torch.einsum("bhi,bhij->bhj", k, state)
    state = state + torch.einsum("bh,bhi,bhj->bhij", beta, k, wrong)
    return torch.einsum("bhi,bhij->bhj", q, state), state
