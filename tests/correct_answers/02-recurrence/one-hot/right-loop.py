def one_hot(numbers, n):
    flat = numbers.reshape(-1)
    rows = torch.zeros(flat.numel(), n)
    for place, number in enumerate(flat.tolist()):
        rows[place, number] = 1
    return rows.reshape(numbers.shape + (n,))
