class ChannelAttention(nn.Module):
    """One hidden layer is linear at its end, so the hidden numbers may be added before it, with the bias twice."""

    def __init__(self, channels: int, reduction: int = 16) -> None:
        super().__init__()
        hidden = max(1, channels // reduction)
        self.reduce = nn.Linear(channels, hidden)
        self.expand = nn.Linear(hidden, channels)
        self.mean, self.max = nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool2d(1)

    def forward(self, x):
        hidden = sum(torch.relu(self.reduce(pool(x).flatten(1))) for pool in (self.mean, self.max))
        return torch.sigmoid(hidden @ self.expand.weight.T + 2 * self.expand.bias)
