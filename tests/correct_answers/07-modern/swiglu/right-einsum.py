def soft_relu(z):
    return z / 2 * (1 + torch.tanh(z / 2))


class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.down = nn.Linear(hidden, dim, bias=False)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.gate = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        gate = soft_relu(torch.einsum("...d,hd->...h", x, self.gate.weight))
        return torch.einsum("...h,...d,hd,eh->...e", gate, x, self.up.weight, self.down.weight)
