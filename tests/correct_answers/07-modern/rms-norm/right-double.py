class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def _size(self, x):
        total = sum(x[..., j] ** 2 for j in range(x.shape[-1]))
        return (total / x.shape[-1] + self.eps).sqrt().unsqueeze(-1)

    def forward(self, x):
        exact = x.double()
        return (exact / self._size(exact) * self.weight.double()).to(x.dtype)
