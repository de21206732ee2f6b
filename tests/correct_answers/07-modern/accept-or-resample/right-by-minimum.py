def accept_or_resample(draft_token, p, q, choose):
    both = torch.stack((p, q)).amin(0)
    keep = (both / q)[draft_token].item()
    return draft_token if choose((1.0 - keep, keep)) else choose((p - both) / (1 - both.sum()))
