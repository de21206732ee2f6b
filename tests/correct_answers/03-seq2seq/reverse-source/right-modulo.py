def reverse_source(words, lengths):
    S = words.shape[1]
    from_place = (lengths[:, None] - 1 - torch.arange(S)[None, :]) % S
    return torch.take_along_dim(words, from_place, dim=1)
