def basis(j, n):
    return torch.nn.functional.one_hot(torch.tensor(j), n).float()


def matrix_of(layer, n: int):
    return torch.cat([((layer(basis(j, n)) - layer(-basis(j, n))) / 2).unsqueeze(1) for j in range(n)], 1)
