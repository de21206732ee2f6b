class ExternalAttention(nn.Module):
    def __init__(self, n_channels: int, n_slots: int) -> None:
        super().__init__()
        self.memory_key = nn.Linear(n_channels, n_slots, bias=False)
        self.memory_value = nn.Linear(n_slots, n_channels, bias=False)

    def forward(self, x):
        score = torch.einsum("bchw,sc->bhws", x, self.memory_key.weight).flatten(1, 2)
        att = double_normalisation(score)
        grid = att.unflatten(1, tuple(x.shape[2:]))
        return [torch.einsum("bhws,cs->bchw", grid, self.memory_value.weight), att]
