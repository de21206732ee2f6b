def unpack(data, batch_sizes, order):
    order = order.tolist()
    box = torch.zeros(len(order), len(batch_sizes), data.shape[-1], dtype=data.dtype)
    row = 0
    for t in range(len(batch_sizes)):
        for i in range(batch_sizes[t]):
            box[order[i]][t] = data[row]
            row += 1
    return box
