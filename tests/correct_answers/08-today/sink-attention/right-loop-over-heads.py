def sink_attention(q, k, v, sinks):
    outs, maps = [], []
    for h, sink in enumerate(sinks):
        scores = causal_scores(q[:, h], k[:, h])
        padded = torch.cat([scores, sink.expand(*scores.shape[:-1], 1)], -1)
        weights = padded.softmax(-1)[..., : k.size(2)]
        maps.append(weights)
        outs.append(weights @ v[:, h])
    return torch.stack(outs, 1), torch.stack(maps, 1)
