def _shrink(x, top):
    return (x - top).exp().nan_to_num(0)


def summarise(scores, v):
    top = scores.amax(-1, keepdim=True)
    counts = _shrink(scores, top)
    return top.squeeze(-1), counts.sum(-1), counts @ v


def merge(a, b):
    m = a[0].maximum(b[0])
    factors = [_shrink(part[0], m) for part in (a, b)]
    l = sum(factor * part[1] for factor, part in zip(factors, (a, b)))
    o = sum(factor.unsqueeze(-1) * part[2] for factor, part in zip(factors, (a, b)))
    return m, l, o
