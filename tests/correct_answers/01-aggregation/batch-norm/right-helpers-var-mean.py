def _statistics(rows):
    variance, mean = torch.var_mean(rows, dim=tuple(range(rows.dim() - 1)), unbiased=False)
    return mean, variance, rows[..., 0].numel()


class BatchNorm(nn.Module):
    running_mean: torch.Tensor
    running_var: torch.Tensor

    def __init__(self, n_features, eps=0.00001, momentum=0.1):
        super().__init__()
        self.settings = {"eps": eps, "momentum": momentum}
        self.register_parameter("weight", nn.Parameter(torch.empty(n_features)))
        self.register_parameter("bias", nn.Parameter(torch.empty(n_features)))
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)
        for name, first in (("running_mean", 0.0), ("running_var", 1.0)):
            self.register_buffer(name, torch.full((n_features,), first))

    @torch.no_grad()
    def _remember(self, mean, variance, n):
        self.running_mean.lerp_(mean, self.settings["momentum"])
        self.running_var.lerp_(variance * (n / (n - 1)), self.settings["momentum"])

    def forward(self, x):
        rows = x.transpose(1, -1)
        if not self.training:
            mean, variance = self.running_mean, self.running_var
        else:
            mean, variance, n = _statistics(rows)
            self._remember(mean, variance, n)
        scale = self.weight / (variance + self.settings["eps"]).sqrt()
        return (rows * scale + (self.bias - mean * scale)).transpose(1, -1)
