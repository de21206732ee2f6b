class BatchNorm(nn.Module):
    def __init__(self, n_features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.n_features, self.eps, self.momentum = n_features, eps, momentum
        self.weight = nn.Parameter(torch.ones(n_features))
        self.bias = nn.Parameter(torch.zeros(n_features))
        self.register_buffer("running_mean", torch.zeros(n_features))
        self.register_buffer("running_var", torch.ones(n_features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        axes = [0] if x.dim() == 2 else [0, 2]
        shape = [1, self.n_features] if x.dim() == 2 else [1, self.n_features, 1]
        if self.training:
            mean = x.mean(dim=axes)
            var = ((x - mean.view(shape)) ** 2).mean(dim=axes)
            n = x.numel() // self.n_features
            self.num_batches_tracked += 1
            self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mean.detach()
            self.running_var = (1 - self.momentum) * self.running_var + self.momentum * var.detach() * n / (n - 1)
        else:
            mean, var = self.running_mean, self.running_var
        x_hat = (x - mean.view(shape)) * torch.rsqrt(var.view(shape) + self.eps)
        return x_hat * self.weight.view(shape) + self.bias.view(shape)
