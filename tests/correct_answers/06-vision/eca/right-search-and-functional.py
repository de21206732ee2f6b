def eca_kernel(channels, gamma=2, b=1):
    t, best = (math.log2(channels) + b) / gamma, 1
    for odd in range(3, int(t) + 4, 2):
        if abs(odd - t) <= abs(best - t):
            best = odd
    return best


class ECA(nn.Module):
    def __init__(self, channels, kernel=None):
        super().__init__()
        k = kernel if kernel is not None else eca_kernel(channels)
        self.conv = nn.Conv1d(in_channels=1, out_channels=1, kernel_size=k, padding=k // 2, bias=False)

    def forward(self, x):
        B, C = x.shape[:2]
        w = self.conv.weight
        weight = F.conv1d(x.mean(-1).mean(-1).reshape(B, 1, C), w, padding=w.size(-1) // 2).reshape(B, C)
        weight = torch.sigmoid(weight)
        return [x * weight.view(B, C, 1, 1), weight]
