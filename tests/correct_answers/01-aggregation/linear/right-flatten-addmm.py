def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    flat = x.reshape(-1, x.shape[-1])
    if bias is None:
        out = torch.mm(flat, weight.t())
    else:
        out = torch.addmm(bias, flat, weight.t())
    return out.reshape(list(x.shape[:-1]) + [weight.shape[0]])
