class SwiGLU(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        for name, sizes in (("gate", (dim, hidden)), ("up", (dim, hidden)), ("down", (hidden, dim))):
            setattr(self, name, nn.Linear(*sizes, bias=False))
        self.bend = nn.SiLU()

    def forward(self, x):
        both = F.linear(x, torch.cat([self.gate.weight, self.up.weight]))
        opened, passed = both.chunk(2, dim=-1)
        return self.down(self.bend(opened).mul(passed))
