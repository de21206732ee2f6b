def eca_kernel(channels: int, gamma: float = 2, b: float = 1) -> int:
    t = (math.log2(channels) + b) / gamma
    return 2 * math.floor(t / 2) + 1


class ECA(nn.Module):
    def __init__(self, channels: int, kernel: int | None = None) -> None:
        super().__init__()
        self.k = kernel or eca_kernel(channels)
        self.conv = nn.Conv1d(1, 1, self.k, bias=False, padding="same")

    def forward(self, x):
        z = F.pad(x.flatten(2).mean(-1), (self.k // 2, self.k // 2))
        windows = z.unfold(1, self.k, 1)
        weight = (windows @ self.conv.weight.view(-1)).sigmoid()
        return torch.einsum("bchw,bc->bchw", x, weight), weight
