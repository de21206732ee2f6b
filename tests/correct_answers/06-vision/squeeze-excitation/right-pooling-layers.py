class SqueezeExcitation(nn.Module):
    def __init__(self, channels: int, reduction: int = 16) -> None:
        super().__init__()
        self._channels = channels
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.reduce = nn.Linear(channels, max(channels // reduction, 1))
        self.relu = nn.ReLU()
        self.expand = nn.Linear(max(channels // reduction, 1), channels)
        self.gate = nn.Sigmoid()

    def forward(self, x):
        b = x.size(0)
        weight = self.gate(self.expand(self.relu(self.reduce(self.pool(x).view(b, self._channels)))))
        return x * weight.view(b, self._channels, 1, 1).expand_as(x), weight
