class ChannelAttention(nn.Module):
    def __init__(self, channels, reduction=16):
        super().__init__()
        self.reduce = nn.Linear(channels, max(1, channels // reduction))
        self.expand = nn.Linear(max(1, channels // reduction), channels)

    def mlp(self, z):
        return self.expand(F.relu(self.reduce(z)))

    def forward(self, x):
        flat = x.flatten(2)
        return (self.mlp(flat.max(-1).values) + self.mlp(flat.mean(-1))).sigmoid()
