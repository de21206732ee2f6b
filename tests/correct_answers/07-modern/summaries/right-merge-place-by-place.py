def merge(a, b):
    m = torch.where(a[0] > b[0], a[0], b[0])
    nothing = m == float("-inf")
    f_a = torch.where(nothing, 0.0, (a[0] - m).exp())
    f_b = torch.where(nothing, 0.0, (b[0] - m).exp())
    return m, f_a * a[1] + f_b * b[1], f_a.unsqueeze(-1) * a[2] + f_b.unsqueeze(-1) * b[2]


def summarise(scores, v):
    summary = None
    for place in range(scores.size(-1)):
        score = scores[..., place]
        seen = (score > float("-inf")).to(v)
        one = score, seen, seen.unsqueeze(-1) * v[..., place, :].unsqueeze(-2)
        summary = one if summary is None else merge(summary, one)
    return summary
