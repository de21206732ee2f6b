def alibi(n_heads, length):
    table = torch.full((n_heads, length, length), float("-inf"))
    for h in range(n_heads):
        slope = 2 ** (-8 * (h + 1) / n_heads)
        for t in range(length):
            table[h, t, : t + 1] = slope * torch.arange(-t, 1)
    return table
