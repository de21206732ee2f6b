def scaled_frequencies(head_dim, method, scale, trained_length, base=10_000.0, alpha=1.0, beta=32.0):
    pairs = head_dim // 2
    exponent = torch.linspace(0, 1 - 2 / head_dim, pairs, dtype=torch.float64)
    omega = torch.exp(-exponent * math.log(base))
    ratios = {
        "interpolation": lambda: torch.full_like(omega, scale),
        "ntk": lambda: scale ** (torch.arange(pairs).double() / (pairs - 1)),
        "yarn": lambda: (
            1
            / torch.lerp(
                torch.full_like(omega, 1 / scale),
                torch.ones_like(omega),
                ((trained_length * omega / math.tau - alpha) / (beta - alpha)).clamp(0, 1),
            )
        ),
    }
    if method not in ratios:
        raise ValueError(f"unknown method {method}")
    return omega / ratios[method]()
