class SimplifiedSelfAttention(nn.Module):
    """fc starts with Xavier's weights and without a bias."""

    def __init__(self, dim: int, n_heads: int = 8, dropout: float | None = None) -> None:
        super().__init__()
        width, rest = divmod(dim, n_heads)
        if rest:
            raise ValueError(f"{dim} is not a multiple of {n_heads}")
        self.n_heads = n_heads
        self.attention = ScaledDotProductAttention(math.sqrt(width), dropout)
        self.fc = nn.Linear(dim, dim)
        nn.init.xavier_normal_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)
        self.dropout = nn.Dropout(0.0 if dropout is None else dropout)
        self.layer_norm = nn.LayerNorm(dim)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        part = split_heads(x, self.n_heads)
        context, _ = self.attention(part, part, part, mask=mask)
        return self.layer_norm(x + self.dropout(self.fc(combine_heads(context))))
