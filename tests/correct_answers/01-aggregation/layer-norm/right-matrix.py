class LayerNorm(nn.Module):
    def __init__(self, n_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.register_parameter("weight", nn.Parameter(torch.full((n_features,), 1.0)))
        self.register_parameter("bias", nn.Parameter(torch.full((n_features,), 0.0)))

    def forward(self, x):
        d = x.size(-1)
        centre = torch.eye(d, dtype=x.dtype) - torch.full((d, d), 1 / d, dtype=x.dtype)
        moved = x @ centre
        variance = torch.einsum("...d,...d->...", moved, moved)[..., None] / d
        return torch.addcmul(self.bias, self.weight, moved / (variance + self.eps).sqrt())
