def one_hot(ids, n):
    result = torch.zeros(*ids.shape, n)
    return result.scatter_(-1, ids.unsqueeze(-1), 1.0)
