def alibi(n_heads, length):
    ones = torch.ones(length, length)
    back = ones.tril(-1).flip(1).cumsum(1).flip(1).tril(-1)
    future = torch.zeros(length, length).masked_fill_(ones.triu(1).bool(), -math.inf)
    heads = [future - back * math.exp(-8 * math.log(2) * h / n_heads) for h in range(1, 1 + n_heads)]
    return torch.stack(heads)
