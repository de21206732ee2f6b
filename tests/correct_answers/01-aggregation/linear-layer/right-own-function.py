class Base(nn.Module):
    def draw(self, *shape, bound):
        return nn.Parameter(torch.zeros(*shape).uniform_(-bound, bound))


class Linear(Base):
    def __init__(self, n_in, n_out, bias=True):
        super().__init__()
        self.weight = self.draw(n_out, n_in, bound=1 / math.sqrt(n_in))
        self.bias = self.draw(n_out, bound=1 / math.sqrt(n_in)) if bias else None

    def forward(self, x):
        return linear(x, self.weight, self.bias)
