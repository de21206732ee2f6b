def accept_or_resample(draft_token, p, q, choose):
    """One choice decides it all: the draft token gets the probability of acceptance, the other tokens the rest."""
    kept = (p[draft_token] / q[draft_token]).clamp(max=1)
    missing = torch.relu(p - q)
    missing[draft_token] = 0
    chances = (1 - kept) * missing / missing.sum().clamp(min=1e-30)
    chances[draft_token] = kept
    return choose(chances / chances.sum())
