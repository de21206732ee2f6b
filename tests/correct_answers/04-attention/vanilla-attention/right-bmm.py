class VanillaAttention(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.fc_align = nn.Linear(dim, dim)
        self.fc_query = nn.Linear(dim, dim)
        self.fc_value = nn.Linear(dim, dim)

    def forward(self, query: torch.Tensor, key: torch.Tensor):
        aligned = self.fc_align(key).transpose(1, 2)
        att = F.softmax(torch.bmm(query[:, None, :], aligned), dim=2)
        context = torch.bmm(att, key)
        out = (self.fc_query(query[:, None, :]) + self.fc_value(context)).tanh()
        return out.squeeze(1), att.squeeze(1)
