def positional_encoding(length, dim):
    hands = (dim + 1) // 2
    speed = torch.pow(10000.0, -2 * torch.arange(hands, dtype=torch.float64) / dim)
    angle = torch.einsum("p,i->pi", torch.arange(length, dtype=torch.float64), speed)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :dim].float()
