def value_of(name, x):
    if name == "relu":
        return torch.relu(x)
    elif name == "leaky_relu":
        return torch.where(x > 0, x, 0.01 * x)
    elif name == "sigmoid":
        return torch.sigmoid(x)
    elif name == "tanh":
        return torch.tanh(x)
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


def activation(name, x):
    leaf = x.detach().clone().requires_grad_()
    with torch.enable_grad():
        (slope,) = torch.autograd.grad(value_of(name, leaf).sum(), leaf)
    return [value_of(name, x), slope]
