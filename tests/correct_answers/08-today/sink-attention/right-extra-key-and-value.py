def sink_attention(q, k, v, sinks):
    B, H, T, _ = q.shape
    sink = sinks.reshape(1, H, 1, 1).repeat(B, 1, T, 1)
    weights = torch.softmax(torch.cat((sink, causal_scores(q, k)), dim=3), dim=3)
    values = torch.cat((torch.zeros_like(v[:, :, :1]), v), dim=2)
    return weights @ values, weights[..., 1:]
