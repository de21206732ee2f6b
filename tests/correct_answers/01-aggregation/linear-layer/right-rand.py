class Linear(nn.Module):
    def __init__(self, n_in, n_out, bias=True):
        super().__init__()
        a = n_in ** -0.5
        self.n_in, self.n_out = n_in, n_out
        self.weight = nn.Parameter((torch.rand(n_out, n_in) * 2 - 1) * a)
        if bias:
            self.bias = nn.Parameter((torch.rand(n_out) * 2 - 1) * a)
        else:
            self.bias = None

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)
