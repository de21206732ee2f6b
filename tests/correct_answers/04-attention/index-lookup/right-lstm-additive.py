class IndexLookup(nn.Module):
    def __init__(self, n_symbols, length, dim=32):
        super().__init__()
        self.emb = nn.Embedding(n_symbols, dim)
        self.emb_idx = nn.Embedding(length, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.W = nn.Linear(dim, dim, bias=False)
        self.U = nn.Linear(dim, dim, bias=False)
        self.v = nn.Linear(dim, 1)
        self.head = nn.Linear(dim, n_symbols)

    def forward(self, symbols, index):
        h = self.rnn(self.emb(symbols))[0]
        q = self.emb_idx(index)
        e = self.v(torch.tanh(self.U(h) + self.W(q)[:, None, :]))[:, :, 0]
        att = torch.softmax(e, dim=-1)
        c = torch.bmm(att[:, None, :], h)[:, 0, :]
        return [self.head(c), att]
