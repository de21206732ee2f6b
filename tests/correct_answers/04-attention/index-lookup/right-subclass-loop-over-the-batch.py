class Reader(nn.Module):
    def __init__(self, n_symbols, dim):
        super().__init__()
        self.embedding = nn.Embedding(n_symbols, dim)
        self.lstm = nn.LSTM(dim, dim // 2, batch_first=True, bidirectional=True)

    def read(self, symbols):
        return self.lstm(self.embedding(symbols))[0]


class IndexLookup(Reader):
    def __init__(self, n_symbols, length, dim=32):
        super().__init__(n_symbols, dim)
        self.embed_index = nn.Embedding(length, dim)
        self.attn_lin = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, dim), nn.Tanh(), nn.Linear(dim, n_symbols))

    def forward(self, symbols, index):
        states = self.read(symbols)
        query = self.attn_lin(self.embed_index(index))
        rows, weights = [], []
        for h, q in zip(states, query):
            a = F.softmax(h @ q, dim=0)
            rows.append(torch.cat([a @ h, q]))
            weights.append(a)
        return self.mlp(torch.stack(rows)), torch.stack(weights)
