def one_hot(ids, n):
    flat = ids.reshape(-1)
    rows = torch.zeros(flat.numel(), n)
    for place, number in enumerate(flat.tolist()):
        rows[place, number] = 1
    return rows.reshape(ids.shape + (n,))
