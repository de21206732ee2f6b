class NonLocal(nn.Module):
    def __init__(self, channels, inner=None):
        super().__init__()
        if inner is None:
            inner = max(1, channels // 2)
        self.inner = inner
        for name in ("theta", "phi", "g"):
            setattr(self, name, nn.Conv2d(channels, inner, kernel_size=1))
        self.out = nn.Conv2d(inner, channels, kernel_size=1)
        for parameter in self.out.parameters():
            nn.init.constant_(parameter, 0.0)

    def forward(self, x):
        B, C, height, width = x.shape
        q, k, v = (layer(x).reshape(B, self.inner, height * width) for layer in (self.theta, self.phi, self.g))
        score = torch.einsum("bci,bcj->bij", q, k)
        weights = F.softmax(score, dim=2)
        y = torch.einsum("bij,bcj->bci", weights, v).reshape(B, self.inner, height, width)
        return [x + self.out(y), weights]
