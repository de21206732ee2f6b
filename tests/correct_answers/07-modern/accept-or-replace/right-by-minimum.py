def accept_or_replace(guess, p, q, choose):
    both = torch.stack((p, q)).amin(0)
    keep = (both / q)[guess].item()
    return guess if choose((1.0 - keep, keep)) else choose((p - both) / (1 - both.sum()))
