def squeeze(maps):
    return torch.einsum("bchw->bc", maps) / (maps.shape[-1] * maps.shape[-2])


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, reduction=16):
        super().__init__()
        width = channels // reduction or 1
        self.expand = nn.Linear(width, channels)
        self.reduce = nn.Linear(channels, width)

    def forward(self, x):
        s = 1 / (1 + torch.exp(-self.expand(torch.clamp(self.reduce(squeeze(x)), min=0))))
        return [torch.einsum("bc,bchw->bchw", s, x), s]
