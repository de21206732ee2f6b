def _norm(x, layer):
    centred = x - x.mean(-1, keepdim=True)
    return layer.weight * centred / torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + layer.eps) + layer.bias


class Base(nn.Module):
    def drop(self, x):
        if not self.training or self.p == 0:
            return x
        return x * (torch.rand_like(x) >= self.p) / (1 - self.p)


class EncoderLayer(Base):
    def __init__(self, dim, n_heads, hidden, dropout=0.1, norm_first=False):
        super().__init__()
        self.p = dropout
        self.norm_first = norm_first
        self.attention = MultiHeadAttention(dim, n_heads)
        self.linear1 = nn.Linear(dim, hidden)
        self.linear2 = nn.Linear(hidden, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)

    def forward(self, x, mask=None):
        h = _norm(x, self.norm1) if self.norm_first else x
        x = x + self.drop(self.attention(h, h, mask)[0])
        if not self.norm_first:
            x = _norm(x, self.norm1)
        h = _norm(x, self.norm2) if self.norm_first else x
        h = torch.maximum(h @ self.linear1.weight.T + self.linear1.bias, torch.zeros((), dtype=h.dtype))
        x = x + self.drop(h @ self.linear2.weight.T + self.linear2.bias)
        return x if self.norm_first else _norm(x, self.norm2)
