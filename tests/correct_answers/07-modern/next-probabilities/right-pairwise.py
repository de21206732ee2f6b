def _share(p):
    return p / p.sum(-1, keepdim=True)


def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    peak = logits.amax(-1, keepdim=True)
    if temperature == 0:
        return _share((logits == peak).to(logits.dtype))
    p = _share(((logits - peak) / temperature).exp())
    larger = p.unsqueeze(1) > p.unsqueeze(2)                                 # (B, V, V): is u above v?
    if top_k is not None:
        p = _share(p * (larger.sum(-1) < top_k))
    if top_p is not None:
        above = (larger * p.unsqueeze(1)).sum(-1)                            # (B, V): the sum of all that are above v
        p = _share(p * (above < top_p))
    return p
