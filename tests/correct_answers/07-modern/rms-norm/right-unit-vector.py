class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        length = torch.sqrt((wide * wide).sum(-1, keepdim=True) + self.dim * self.eps)
        return (wide / length * math.sqrt(self.dim) * self.weight).to(x.dtype)
