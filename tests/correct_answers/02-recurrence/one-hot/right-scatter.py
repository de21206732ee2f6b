def one_hot(numbers, n):
    result = torch.zeros(*numbers.shape, n)
    return result.scatter_(-1, numbers.unsqueeze(-1), 1.0)
