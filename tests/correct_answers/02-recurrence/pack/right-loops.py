def pack(x, lengths):
    order = sorted(range(len(x)), key=lambda b: -int(lengths[b]))
    rows, batch_sizes = [], []
    for t in range(int(lengths.max())):
        n = 0
        for b in order:
            if t < int(lengths[b]):
                rows.append(x[b, t])
                n += 1
        batch_sizes.append(n)
    return torch.stack(rows), batch_sizes, torch.tensor(order)
