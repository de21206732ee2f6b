def linear(x, weight, bias=None):
    h = (x.unsqueeze(-2) * weight).sum(-1)
    return h + (0 if bias is None else bias)
