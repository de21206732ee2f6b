def knock_out(weights, values, W_O, silent=(), by_mean=False):
    H, E = values.size(1), values.size(3)
    terms = torch.einsum("bhtj,bhje,hed->bhtd", weights, values, W_O.view(H, E, W_O.size(1)))
    speaks = torch.tensor([0.0 if h in silent else 1.0 for h in range(H)]).view(1, H, 1, 1)
    instead = terms.mean(0, keepdim=True) * (1 - speaks) if by_mean else 0
    return (terms * speaks + instead).sum(1)
