def positional_encoding(length, dim):
    j = torch.arange(dim)
    odd = j % 2
    angle = torch.outer(torch.arange(length).float(), 1 / 10000 ** ((j - odd) / dim))
    return torch.where(odd.bool(), torch.cos(angle), torch.sin(angle))
