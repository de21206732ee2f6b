class SpatialAttention(nn.Module):
    def __init__(self, kernel=7):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, kernel, padding="same")

    def forward(self, x):
        return self.conv(torch.stack((x.mean(1), x.max(dim=1)[0]), dim=1)).sigmoid()
