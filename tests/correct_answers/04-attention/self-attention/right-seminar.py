class SelfAttention(nn.Module):
    """In the manner of the seminar: the notebook's functions, one line for each step, `out` overwritten."""

    def __init__(self, dim: int, n_heads: int = 8, dropout: "float | None" = None) -> None:
        super().__init__()
        if dim % n_heads != 0:
            raise ValueError(f"dim {dim} is no multiple of n_heads {n_heads}")
        self.n_heads = n_heads
        self.d_head = dim // n_heads
        self.W_Q = nn.Linear(dim, dim)
        self.W_K = nn.Linear(dim, dim)
        self.W_V = nn.Linear(dim, dim)
        self.attention = ScaledDotProductAttention(scale=self.d_head**0.5, dropout=dropout)
        self.layer_norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)
        self.dropout = None if dropout is None else nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, mask=None):
        Q, K, V = (split_heads(W(x), self.n_heads) for W in (self.W_Q, self.W_K, self.W_V))
        context, att = self.attention(Q, K, V, mask=mask)
        self.last_weights = att.detach()
        out = self.fc(combine_heads(context))
        out = out if self.dropout is None else self.dropout(out)
        out = out + x
        out = self.layer_norm(out)
        return out
