def reverse_source(words, lengths):
    S = words.size(1)
    flipped = torch.flip(words, dims=[1])
    return torch.stack([row.roll(int(n) - S) for row, n in zip(flipped, lengths)])
