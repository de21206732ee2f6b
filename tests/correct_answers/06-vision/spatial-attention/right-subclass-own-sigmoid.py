class _Pools(nn.Module):
    def forward(self, maps):
        mean = maps.sum(1) / maps.size(1)
        top = maps.sort(dim=1, descending=True).values[:, 0]
        return torch.cat([mean.unsqueeze(1), top.unsqueeze(1)], dim=1)


class SpatialAttention(_Pools):
    def __init__(self, kernel=7):
        super().__init__()
        half = kernel // 2
        self.conv = nn.Conv2d(2, 1, (kernel, kernel), padding=(half, half))

    def forward(self, x):
        return 0.5 * (1 + torch.tanh(self.conv(super().forward(x)) / 2))
