class EncoderLayer(nn.Module):
    def __init__(self, dim, n_heads, hidden, dropout=0.1, norm_first=False):
        super().__init__()
        self.attention = MultiHeadAttention(dim, n_heads)
        self.linear1 = nn.Linear(dim, hidden)
        self.linear2 = nn.Linear(hidden, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.norm_first = norm_first
        self.dropout = nn.Dropout(dropout)
        self.feed_forward = nn.Sequential(self.linear1, nn.ReLU(), self.linear2)

    def forward(self, x, mask=None):
        if self.norm_first:
            told = self.norm1(x)
            x = x + self.dropout(self.attention(told, told, mask)[0])
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
        else:
            x = self.norm1(x + self.dropout(self.attention(x, x, mask)[0]))
            x = self.norm2(x + self.dropout(self.feed_forward(x)))
        return x
