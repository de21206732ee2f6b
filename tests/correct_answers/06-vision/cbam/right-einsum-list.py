class CBAM(nn.Module):
    def __init__(self, channels, reduction=16, kernel=7):
        super().__init__()
        self.spatial = SpatialAttention(kernel)
        self.channel = ChannelAttention(channels, reduction)

    def forward(self, x):
        mc = self.channel(x)
        refined = torch.einsum("bchw,bc->bchw", x, mc)
        ms = self.spatial(refined)
        return [torch.einsum("bchw,bkhw->bchw", refined, ms), mc, ms]
