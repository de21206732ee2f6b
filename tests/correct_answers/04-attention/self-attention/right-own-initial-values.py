class SelfAttention(nn.Module):
    """The linear layers start with Xavier's weights and without a bias."""

    def __init__(self, dim: int, n_heads: int = 8, dropout: float | None = None) -> None:
        super().__init__()
        if dim % n_heads != 0:
            raise ValueError(f"{n_heads} heads cannot share {dim} features")
        self.n_heads = n_heads
        self.W_Q, self.W_K, self.W_V, self.fc = (nn.Linear(dim, dim) for _ in range(4))
        for layer in (self.W_Q, self.W_K, self.W_V, self.fc):
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.attention = ScaledDotProductAttention((dim // n_heads) ** 0.5, dropout)
        self.dropout = nn.Dropout(dropout or 0.0)
        self.layer_norm = nn.LayerNorm(dim)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        q, k, v = (split_heads(layer(x), self.n_heads) for layer in (self.W_Q, self.W_K, self.W_V))
        context = combine_heads(self.attention(q, k, v, mask)[0])
        return self.layer_norm(x + self.dropout(self.fc(context)))
