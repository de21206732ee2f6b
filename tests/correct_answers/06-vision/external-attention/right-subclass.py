class Memory(nn.Module):
    def __init__(self, n_channels, n_slots):
        super().__init__()
        for name, sizes in {"memory_key": (n_channels, n_slots), "memory_value": (n_slots, n_channels)}.items():
            setattr(self, name, nn.Linear(*sizes, bias=False))


class ExternalAttention(Memory):
    def forward(self, x: torch.Tensor):
        batch, channels, height, width = x.shape
        by_pixel = x.permute(0, 2, 3, 1).reshape(batch, height * width, channels)
        score = by_pixel @ self.memory_key.weight.mT
        share = score - score.logsumexp(dim=1, keepdim=True)
        att = share.softmax(dim=2)
        mixed = self.memory_value(att).view(batch, height, width, channels)
        return mixed.permute(0, 3, 1, 2), att
