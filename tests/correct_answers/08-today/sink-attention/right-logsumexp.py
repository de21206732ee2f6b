def sink_attention(q, k, v, sinks):
    scores = causal_scores(q, k)
    total = torch.logaddexp(scores.logsumexp(-1), sinks[:, None])
    weights = (scores - total.unsqueeze(-1)).exp()
    return torch.matmul(weights, v), weights
