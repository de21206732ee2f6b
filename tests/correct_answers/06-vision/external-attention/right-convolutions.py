class ExternalAttention(nn.Module):
    def __init__(self, n_channels: int, n_slots: int) -> None:
        super().__init__()
        self.memory_key = nn.Linear(n_channels, n_slots, bias=False)
        self.memory_value = nn.Linear(n_slots, n_channels, bias=False)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        score = F.conv2d(x, self.memory_key.weight[:, :, None, None])
        log_share = score.flatten(2).log_softmax(2)
        att = log_share.softmax(1)
        out = F.conv1d(att, self.memory_value.weight[:, :, None])
        return out.view_as(score[:, :1].expand_as(x)), att.transpose(1, 2)
