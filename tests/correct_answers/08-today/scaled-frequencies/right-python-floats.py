def scaled_frequencies(head_dim, method, scale, trained_length, base=10_000.0, alpha=1.0, beta=32.0):
    if method not in ("interpolation", "ntk", "yarn"):
        raise ValueError(method)
    result = []
    for i in range(0, head_dim, 2):
        omega = 1 / base ** (i / head_dim)
        if method == "interpolation":
            omega = omega / scale
        elif method == "ntk":
            omega = omega * scale ** (-i / (head_dim - 2))
        else:
            turns = trained_length / (2 * math.pi / omega)
            gamma = min(1.0, max(0.0, (turns - alpha) / (beta - alpha)))
            omega = omega * (gamma + (1 - gamma) / scale)
        result.append(omega)
    return torch.tensor(result, dtype=torch.float64)
