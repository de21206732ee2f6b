class EncoderLayer(nn.Module):
    def __init__(self, dim, n_heads, hidden, dropout=0.1, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(dim, n_heads)
        self.norm1 = nn.LayerNorm(dim)
        self.dropout1 = nn.Dropout(dropout)
        self.linear1 = nn.Linear(dim, hidden)
        self.linear2 = nn.Linear(hidden, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.dropout2 = nn.Dropout(dropout)

    def _post(self, x, mask):
        out, _ = self.attention(x, x, mask)
        y = self.norm1(self.dropout1(out) + x)
        z = self.dropout2(self.linear2(torch.relu(self.linear1(y))))
        return self.norm2(z + y)

    def _pre(self, x, mask):
        n = self.norm1(x)
        out, _ = self.attention(n, n, mask)
        y = self.dropout1(out) + x
        z = self.linear2(F.relu(self.linear1(self.norm2(y))))
        return y + self.dropout2(z)

    def forward(self, x, mask=None):
        return self._pre(x, mask) if self.norm_first else self._post(x, mask)
