def eca_kernel(channels, gamma=2, b=1):
    t = int(abs((math.log(channels, 2) + b) / gamma))
    return t if t % 2 else t + 1


class ECA(nn.Module):
    def __init__(self, channels, kernel=None):
        super().__init__()
        if kernel is None:
            kernel = eca_kernel(channels)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.conv = nn.Conv1d(1, 1, kernel_size=kernel, padding=(kernel - 1) // 2, bias=False)
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        y = self.pool(x)
        y = self.conv(y.squeeze(-1).transpose(-1, -2)).transpose(-1, -2).unsqueeze(-1)
        y = self.sigmoid(y)
        return x * y.expand_as(x), y.flatten(1)
