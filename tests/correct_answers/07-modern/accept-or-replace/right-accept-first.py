def accept_or_replace(guess, p, q, choose):
    a = torch.minimum(torch.ones_like(p), p / q)[guess]
    rejected = choose(torch.stack([a, 1 - a]))
    if not rejected:
        return int(guess)
    r = torch.where(p > q, p - q, torch.zeros_like(p))
    r /= r.sum()
    return int(choose(r.tolist()))
