def positional_encoding(length, width):
    j = torch.arange(width)
    odd = j % 2
    angle = torch.outer(torch.arange(length).float(), 1 / 10000 ** ((j - odd) / width))
    return torch.where(odd.bool(), torch.cos(angle), torch.sin(angle))
