def unpack(data, batch_sizes, order):
    B, L = len(order), len(batch_sizes)
    columns, start = [], 0
    for n in batch_sizes:
        step = data[start:start + n]
        columns.append(F.pad(step, (0, 0, 0, B - n)))
        start += n
    box = torch.stack(columns, dim=1)
    return box[torch.argsort(order)]
