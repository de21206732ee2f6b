def summarise(scores, v):
    m = scores.max(dim=-1).values
    base = torch.where(m.isinf(), torch.zeros_like(m), m)
    weights = torch.exp(scores - base[..., None])
    return m, weights.sum(dim=-1), torch.matmul(weights, v)


def merge(a, b):
    (m_a, l_a, o_a), (m_b, l_b, o_b) = a, b
    m = torch.stack([m_a, m_b]).amax(0)
    base = torch.where(m == -math.inf, 0.0, m)
    old, new = torch.exp(m_a - base), torch.exp(m_b - base)
    return m, old * l_a + new * l_b, old[..., None] * o_a + new[..., None] * o_b
