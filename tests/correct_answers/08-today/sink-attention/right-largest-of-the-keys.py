def sink_attention(q, k, v, sinks):
    scores = causal_scores(q, k)
    largest = torch.maximum(scores.amax(-1, keepdim=True), sinks.view(-1, 1, 1)).detach()
    counts = torch.exp(scores - largest)
    weights = counts / (counts.sum(-1, keepdim=True) + torch.exp(sinks.view(-1, 1, 1) - largest))
    return torch.einsum("bhts,bhse->bhte", weights, v), weights
