def soften(score):
    shifted = (score - score.max(-1, keepdim=True).values).exp()
    return shifted / shifted.sum(-1, keepdim=True)


class NonLocal(nn.Module):
    def __init__(self, channels: int, inner: int | None = None) -> None:
        super().__init__()
        width = inner or max(1, channels // 2)
        self.theta, self.phi, self.g = (nn.Conv2d(channels, width, 1) for _ in range(3))
        self.out = nn.Conv2d(width, channels, 1)
        with torch.no_grad():
            self.out.weight.zero_()
            self.out.bias.zero_()

    def forward(self, x):
        pictures, maps = [], []
        for picture in x:
            q, k, v = (layer(picture[None])[0].flatten(1).T for layer in (self.theta, self.phi, self.g))
            weights = torch.stack([soften(k @ asker) for asker in q])
            heard = (weights @ v).T.reshape(-1, *picture.shape[1:])
            pictures.append(picture + self.out(heard[None])[0])
            maps.append(weights)
        return torch.stack(pictures), torch.stack(maps)
