def alibi(n_heads, length):
    table = torch.empty(n_heads, length, length)
    for h in range(1, n_heads + 1):
        for t in range(length):
            for s in range(length):
                table[h - 1, t, s] = -(2 ** (-8 * h / n_heads)) * (t - s) if s <= t else -math.inf
    return table
