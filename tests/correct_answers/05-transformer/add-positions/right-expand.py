def add_positions(x):
    B, L, D = x.shape
    table = positional_encoding(L, D)[None].expand(B, L, D)
    return torch.add(x, table.type_as(x))
