def pack(x, lengths):
    B, L, E = x.shape
    order = (-lengths).argsort(stable=True)
    steps = torch.arange(int(lengths.max()))
    alive = lengths[order].unsqueeze(0) > steps.unsqueeze(1)                 # (steps, B)
    places = order.unsqueeze(0) * L + steps.unsqueeze(1)                     # (steps, B)
    return x.reshape(B * L, E)[places[alive]], alive.sum(1).tolist(), order
