def matrix_of(layer, n):
    # M and b together are the unknowns of a linear system: n + 1 inputs, each with a 1 for the bias
    inputs = torch.cat([torch.eye(n), torch.zeros(1, n)])
    answers = torch.stack([layer(x) for x in inputs])
    return torch.linalg.lstsq(torch.cat([inputs, torch.ones(n + 1, 1)], 1), answers).solution[:n].T
