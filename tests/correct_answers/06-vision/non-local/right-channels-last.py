class Base(nn.Module):
    def places(self, x):
        return x.permute(0, 2, 3, 1).reshape(x.size(0), -1, x.size(1))


class NonLocal(Base):
    def __init__(self, channels, inner=None):
        super().__init__()
        inner = inner if inner is not None else max(1, channels // 2)
        self.theta = nn.Conv2d(channels, inner, 1)
        self.phi = nn.Conv2d(channels, inner, 1)
        self.g = nn.Conv2d(channels, inner, 1)
        self.out = nn.Conv2d(inner, channels, 1)
        self.out.weight.data.zero_()
        self.out.bias.data.zero_()

    def forward(self, x):
        row = self.places(x)
        q, k, v = (F.linear(row, m.weight.flatten(1), m.bias) for m in (self.theta, self.phi, self.g))
        weights = torch.bmm(q, k.mT).softmax(dim=-1)
        added = F.linear(torch.bmm(weights, v), self.out.weight.flatten(1), self.out.bias)
        z = row + added
        return z.view(x.size(0), x.size(2), x.size(3), x.size(1)).permute(0, 3, 1, 2), weights
