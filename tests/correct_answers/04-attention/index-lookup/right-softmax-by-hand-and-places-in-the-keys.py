def weights_of(scores):
    e = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
    return e / e.sum(dim=1, keepdim=True)


class IndexLookup(nn.Module):
    def __init__(self, n_symbols, length, dim=32):
        super().__init__()
        self.what = nn.Embedding(n_symbols, dim)
        self.where = nn.Embedding(length, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.fc = nn.Linear(dim, n_symbols)

    def forward(self, symbols, index):
        x = self.what(symbols) + self.where.weight
        out, _ = self.rnn(x)
        query, key = self.q(self.where(index)), self.k(out)
        att = weights_of(torch.sum(query.unsqueeze(1) * key, dim=-1))
        context = torch.sum(att.unsqueeze(-1) * out, dim=1)
        return self.fc(context), att
