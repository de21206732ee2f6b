def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    # vectors as columns: h = W x + b
    h = torch.matmul(weight, x.unsqueeze(-1)).squeeze(-1)
    if bias is None:
        bias = torch.zeros(weight.shape[0], dtype=x.dtype)
    h += bias
    return h
