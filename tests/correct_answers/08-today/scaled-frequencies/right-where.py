def scaled_frequencies(head_dim, method, scale, trained_length, base=10_000.0, alpha=1.0, beta=32.0):
    omega = torch.pow(torch.tensor(base, dtype=torch.float64), -torch.arange(0, head_dim, 2).double() / head_dim)
    match method:
        case "interpolation":
            return omega.div(scale)
        case "ntk":
            bigger = base * scale ** (head_dim / (head_dim - 2))
            return torch.tensor([bigger ** (-i / head_dim) for i in range(0, head_dim, 2)], dtype=torch.float64)
        case "yarn":
            turns = trained_length / (2 * torch.pi / omega)
            blend = (turns - alpha) / (beta - alpha)
            mixed = blend * omega + (1 - blend) * omega / scale
            return torch.where(turns >= beta, omega, torch.where(turns <= alpha, omega / scale, mixed))
        case _:
            raise ValueError("no such method")
