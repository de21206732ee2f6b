class VanillaAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.fc_align = nn.Linear(dim, dim)
        self.fc_query = nn.Linear(dim, dim)
        self.fc_value = nn.Linear(dim, dim)
        self.softmax = nn.Softmax(dim=-1)
        self.tanh = nn.Tanh()

    def forward(self, query, key):
        score = torch.einsum("bd,bld->bl", query, self.fc_align(key))
        att = self.softmax(score)
        context = torch.einsum("bl,bld->bd", att, key)
        return self.tanh(self.fc_query(query) + self.fc_value(context)), att
