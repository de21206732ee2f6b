class ExternalAttention(nn.Module):
    def __init__(self, n_channels: int, n_slots: int) -> None:
        super().__init__()
        self.memory_value = nn.Linear(n_slots, n_channels, bias=False)
        self.memory_key = nn.Linear(n_channels, n_slots, bias=False)

    def forward(self, x):
        outs, atts = [], []
        for picture in x:
            rows = torch.stack([picture[:, i, j] for i in range(x.size(2)) for j in range(x.size(3))])
            att = double_normalisation(self.memory_key(rows))
            outs.append(self.memory_value(att).T.reshape(picture.shape))
            atts.append(att)
        return torch.stack(outs), torch.stack(atts)
