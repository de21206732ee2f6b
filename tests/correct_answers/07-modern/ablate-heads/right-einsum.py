def ablate_heads(weights, values, W_O, ablated=(), use_mean=False):
    H, E = values.size(1), values.size(3)
    terms = torch.einsum("bhtj,bhje,hed->bhtd", weights, values, W_O.view(H, E, W_O.size(1)))
    kept = torch.tensor([0.0 if h in ablated else 1.0 for h in range(H)]).view(1, H, 1, 1)
    instead = terms.mean(0, keepdim=True) * (1 - kept) if use_mean else 0
    return (terms * kept + instead).sum(1)
