def gated_attention(x, q, k, v, gate_weight):
    weight = gate_weight.unflatten(1, (q.size(1), -1))
    gate = torch.einsum("btd,dhe->bhte", x, weight).sigmoid()
    out = torch.einsum("bhts,bhse->bhte", causal_scores(q, k).softmax(-1), v)
    return out * gate
