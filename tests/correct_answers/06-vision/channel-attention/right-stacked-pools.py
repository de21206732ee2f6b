class ChannelAttention(nn.Module):
    def __init__(self, channels, reduction=16):
        super().__init__()
        width = channels // reduction or 1
        self.reduce = nn.Linear(channels, width)
        self.expand = nn.Linear(width, channels)

    def forward(self, x):
        both = torch.stack([x.mean((2, 3)), x.amax((2, 3))])
        return torch.sigmoid(self.expand(self.reduce(both).clamp(min=0)).sum(0))
