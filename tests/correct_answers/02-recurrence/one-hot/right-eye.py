def one_hot(numbers, n):
    return torch.eye(n)[numbers]
