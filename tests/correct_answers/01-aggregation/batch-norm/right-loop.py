class BatchNorm(nn.Module):
    def __init__(self, n_features: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        self.eps = eps
        self.momentum = momentum
        self.bias = nn.Parameter(torch.zeros(n_features))
        self.weight = nn.Parameter(torch.ones(n_features))
        self.register_buffer("running_var", torch.ones(n_features))
        self.register_buffer("running_mean", torch.zeros(n_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        channels = []
        for c in range(x.shape[1]):
            numbers = x[:, c]
            if self.training:
                n = numbers.numel()
                mean = numbers.sum() / n
                squares = ((numbers - mean) ** 2).sum()
                variance = squares / n
                with torch.no_grad():
                    self.running_mean[c] += self.momentum * (mean - self.running_mean[c])
                    self.running_var[c] += self.momentum * (squares / (n - 1) - self.running_var[c])
            else:
                mean, variance = self.running_mean[c], self.running_var[c]
            channels.append(self.weight[c] * (numbers - mean) / (variance + self.eps) ** 0.5 + self.bias[c])
        return torch.stack(channels, dim=1)
