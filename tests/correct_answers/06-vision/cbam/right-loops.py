def _scale(maps, gates):
    return torch.stack([torch.stack([m * s for m, s in zip(picture, row)]) for picture, row in zip(maps, gates)])


class CBAM(nn.Module):
    def __init__(self, channels: int, reduction: int = 16, kernel: int = 7) -> None:
        super().__init__()
        self.channel = ChannelAttention(channels, reduction=reduction)
        self.spatial = SpatialAttention(kernel=kernel)

    def forward(self, x):
        what = self.channel(x)
        x1 = _scale(x, what)
        where = self.spatial(x1)
        return torch.stack([x1[:, c] * where[:, 0] for c in range(x.size(1))], 1), what, where
