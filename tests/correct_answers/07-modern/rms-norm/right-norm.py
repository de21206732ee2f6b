class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.dim, self.eps = dim, eps
        self.register_parameter("weight", nn.Parameter(torch.empty(dim).fill_(1.0)))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        squares = torch.einsum("...d,...d->...", wide, wide)
        size = (squares / self.dim + self.eps).pow(0.5)
        return torch.einsum("...d,d,...->...d", wide, self.weight.to(wide.dtype), 1 / size).to(x.dtype)
