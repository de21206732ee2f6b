def linear_attention_step(q, k, v, state):
    phi = lambda x: torch.where(x > 0, x + 1, x.clamp(max=0).exp())
    q, k = phi(q), phi(k)
    M = torch.einsum("bhi,bhj->bhij", k, v)
    z = k
    if state is not None:
        M = M + state[0]
        z = z + state[1]
    top = torch.einsum("bhi,bhij->bhj", q, M)
    bottom = torch.einsum("bhi,bhi->bh", q, z)
    return top / bottom[..., None], [M, z]
