class EncoderLayer(nn.Module):
    def __init__(self, dim, n_heads, hidden, dropout=0.1, norm_first=False):
        super().__init__()
        self.attention, self.linear1, self.linear2 = (
            MultiHeadAttention(dim, n_heads), nn.Linear(dim, hidden), nn.Linear(hidden, dim))
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.p, self.first = dropout, norm_first

    def forward(self, x, mask=None):
        steps = ((self.norm1, lambda v: self.attention(v, v, mask)[0]),
                 (self.norm2, lambda v: self.linear2(self.linear1(v).clamp(min=0))))
        for norm, step in steps:
            told = norm(x) if self.first else x
            x = x + F.dropout(step(told), self.p, training=self.training)
            if not self.first:
                x = norm(x)
        return x
