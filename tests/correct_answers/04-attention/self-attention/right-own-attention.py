class _Heads(nn.Module):
    """Torch's own attention between a reshape there and a reshape back."""

    def __init__(self, n_heads, p):
        super().__init__()
        self.n_heads, self.p = n_heads, p

    def forward(self, q, k, v, mask):
        B, L, D = q.shape
        q, k, v = (t.reshape(B, L, self.n_heads, -1).permute(0, 2, 1, 3) for t in (q, k, v))
        keep = None if mask is None else (mask == 0).view(B, 1, 1, L)
        p = self.p if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=keep, dropout_p=p)
        return mixed.permute(0, 2, 1, 3).reshape(B, L, D)


class SelfAttention(nn.Module):
    def __init__(self, dim, n_heads=8, dropout=None):
        super().__init__()
        if dim % n_heads:
            raise ValueError(f"{dim} features cannot be shared by {n_heads} heads")
        for name in ("W_Q", "W_K", "W_V", "fc"):
            setattr(self, name, nn.Linear(dim, dim))
        self.heads = _Heads(n_heads, dropout or 0.0)
        self.after = nn.Dropout(dropout) if dropout is not None else None
        self.layer_norm = nn.LayerNorm(dim)

    def forward(self, x, mask=None):
        out = self.fc(self.heads(self.W_Q(x), self.W_K(x), self.W_V(x), mask))
        if self.after is not None:
            out = self.after(out)
        return self.layer_norm(torch.add(x, out))
