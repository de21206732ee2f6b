def _one(vector, eps):
    mean = vector.mean()
    return (vector - mean) / (((vector - mean) ** 2).mean() + eps) ** 0.5


class LayerNorm(nn.Module):
    def __init__(self, n_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.bias = nn.Parameter(torch.zeros(n_features))
        self.weight = nn.Parameter(torch.ones(n_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        vectors = x.reshape(-1, x.shape[-1])
        normal = torch.stack([_one(vector, self.eps) for vector in vectors]).reshape(x.shape)
        return normal * self.weight + self.bias
