class _Gated(nn.Module):
    def apply_gate(self, maps, gate):
        return torch.mul(maps, gate.expand_as(maps))


class CBAM(_Gated):
    def __init__(self, channels, reduction=16, kernel=7):
        super().__init__()
        self.channel, self.spatial = ChannelAttention(channels, reduction), SpatialAttention(kernel)

    def forward(self, x: torch.Tensor):
        out = x.clone()
        what = self.channel(out)
        out = self.apply_gate(out, what.view(*what.shape, 1, 1))
        where = self.spatial(out)
        return self.apply_gate(out, where), what, where
