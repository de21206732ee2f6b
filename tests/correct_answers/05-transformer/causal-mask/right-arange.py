def causal_mask(length):
    places = torch.arange(length)
    return places.unsqueeze(0) > places.unsqueeze(1)
