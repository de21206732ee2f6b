class Linear(nn.Module):
    def __init__(self, n_in: int, n_out: int, bias: bool = True) -> None:
        super().__init__()
        distribution = torch.distributions.Uniform(-1 / n_in**0.5, 1 / n_in**0.5)
        self.bias = nn.Parameter(distribution.sample((n_out,))) if bias else None
        self.weight = nn.Parameter(distribution.sample((n_out, n_in)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.matmul(self.weight, x.unsqueeze(-1)).squeeze(-1)
        return h if self.bias is None else h.add(self.bias)
