class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate, self.up = (nn.Linear(dim, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        z = x @ self.gate.weight.T
        return (z * torch.sigmoid(z) * (x @ self.up.weight.T)) @ self.down.weight.T
