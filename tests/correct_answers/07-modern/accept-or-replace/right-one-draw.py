def accept_or_replace(guess, p, q, choose):
    """One draw decides it all: the guess has the probability of being kept, the other words the rest."""
    kept = (p[guess] / q[guess]).clamp(max=1)
    missing = torch.relu(p - q)
    missing[guess] = 0
    chances = (1 - kept) * missing / missing.sum().clamp(min=1e-30)
    chances[guess] = kept
    return choose(chances / chances.sum())
