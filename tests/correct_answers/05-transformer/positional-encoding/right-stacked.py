def positional_encoding(length, width):
    hands = (width + 1) // 2
    speed = torch.pow(10000.0, -2 * torch.arange(hands, dtype=torch.float64) / width)
    angle = torch.einsum("p,i->pi", torch.arange(length, dtype=torch.float64), speed)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width].float()
