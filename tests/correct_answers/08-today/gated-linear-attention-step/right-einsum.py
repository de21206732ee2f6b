def gated_linear_attention_step(q, k, v, decay, state):
    written = torch.einsum("bhi,bhj->bhij", k, v)
    if state is None:
        state = torch.zeros_like(written)
    state = torch.einsum("bhi,bhij->bhij", decay, state) + written
    return torch.einsum("bhi,bhij->bhj", q, state), state
