def positional_encoding(length, dim):
    rows = []
    for p in range(length):
        row = []
        for j in range(dim):
            i = j // 2
            angle = p / math.pow(10000, 2 * i / dim)
            row.append(math.sin(angle) if j % 2 == 0 else math.cos(angle))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)
