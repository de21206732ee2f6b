class DecoderLayer(nn.Module):
    """Both masks of the target in one, a square for each sentence and head; dropout of its own for each part."""

    def __init__(self, dim: int, n_heads: int, hidden: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(dim) for _ in range(3))
        self.linear1, self.linear2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.multihead_attn = nn.MultiheadAttention(dim, n_heads, batch_first=True)
        self.self_attn = nn.MultiheadAttention(dim, n_heads, batch_first=True)
        self.drop = nn.ModuleList([nn.Dropout(dropout) for _ in range(3)])

    def forward(self, x, memory, future=None, padding=None, memory_padding=None):
        B, T, _ = x.shape
        hidden = torch.zeros(B, T, T, dtype=torch.bool)
        if future is not None:
            hidden = hidden | future
        if padding is not None:
            hidden = hidden | padding[:, None, :]
        x = self.norm1(x + self.drop[0](self.self_attn(x, x, x, attn_mask=hidden.repeat_interleave(self.n_heads, 0))[0]))
        x = self.norm2(x + self.drop[1](self.multihead_attn(x, memory, memory, memory_padding, need_weights=False)[0]))
        return self.norm3(self.drop[2](self.linear2(F.relu(self.linear1(x)))) + x)
