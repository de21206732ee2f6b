class SpatialAttention(nn.Module):
    def __init__(self, kernel: int = 7) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels=2, out_channels=1, kernel_size=kernel, padding=(kernel - 1) // 2)
        self.gate = nn.Sigmoid()

    def forward(self, x):
        for_mean, for_max = self.conv.weight.split(1, dim=1)
        pad = self.conv.padding
        score = F.conv2d(x.mean(dim=1, keepdim=True), for_mean, padding=pad)
        score = score + F.conv2d(torch.max(x, dim=1, keepdim=True).values, for_max, padding=pad)
        return self.gate(score + self.conv.bias.view(1, 1, 1, 1))
