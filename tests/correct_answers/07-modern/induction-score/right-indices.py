def induction_score(weights, tokens):
    b, t, earlier = torch.nonzero(tokens.unsqueeze(2) == tokens.unsqueeze(1), as_tuple=True)
    is_past = earlier < t
    b, t, earlier = b[is_past], t[is_past], earlier[is_past]
    queries = torch.stack([b, t]).unique(dim=1).size(1)
    return weights[b, :, t, earlier + 1].sum(0) / queries
