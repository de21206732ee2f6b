class LayerNorm(nn.Module):
    def __init__(self, n_features, eps=1e-5):
        super().__init__()
        self.eps, self.weight, self.bias = eps, nn.Parameter(torch.ones(n_features)), nn.Parameter(torch.zeros(n_features))

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
        return ((x - mean).div((variance + self.eps).sqrt())).mul(self.weight).add(self.bias)
