def accept_or_resample(draft_token, p, q, choose):
    a = torch.minimum(torch.ones_like(p), p / q)[draft_token]
    rejected = choose(torch.stack([a, 1 - a]))
    if not rejected:
        return int(draft_token)
    r = torch.where(p > q, p - q, torch.zeros_like(p))
    r /= r.sum()
    return int(choose(r.tolist()))
