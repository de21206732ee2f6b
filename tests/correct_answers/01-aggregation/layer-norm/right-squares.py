class LayerNorm(nn.Module):
    def __init__(self, n_features, eps=1e-5):
        super().__init__()
        self.n_features = n_features
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(n_features))
        self.bias = nn.Parameter(torch.zeros(n_features))

    def forward(self, x):
        centred = x - x.sum(dim=-1).unsqueeze(-1) / self.n_features
        variance = centred.pow(2).sum(dim=-1).unsqueeze(-1) / self.n_features
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias
