def activation(name, x):
    if name == "relu":
        return x * (x > 0), torch.heaviside(x, torch.zeros((), dtype=x.dtype))
    if name == "leaky_relu":
        step = torch.heaviside(x, torch.zeros((), dtype=x.dtype)).detach()
        return x * (0.01 + 0.99 * step), 0.01 + 0.99 * step
    if name == "sigmoid":
        return torch.sigmoid(x), torch.sigmoid(x) * torch.sigmoid(-x)
    if name == "tanh":
        return torch.tanh(x), 1 / torch.cosh(x) ** 2
    normal = torch.distributions.Normal(0.0, 1.0)
    return x * normal.cdf(x), normal.cdf(x) + x * normal.log_prob(x).exp()
