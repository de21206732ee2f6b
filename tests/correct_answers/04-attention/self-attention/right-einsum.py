class SelfAttention(nn.Module):
    def __init__(self, dim, n_heads=8, dropout=None):
        super().__init__()
        if dim % n_heads:
            raise ValueError("n_heads must divide dim")
        self.n_heads, self.d_head = n_heads, dim // n_heads
        self.W_Q, self.W_K, self.W_V, self.fc = (nn.Linear(dim, dim) for _ in range(4))
        self.layer_norm = nn.LayerNorm(dim)
        self.p = 0.0 if dropout is None else dropout

    def forward(self, x, mask=None):
        cut = (self.n_heads, self.d_head)
        q = self.W_Q(x).unflatten(-1, cut) / self.d_head**0.5
        k = self.W_K(x).unflatten(-1, cut)
        v = self.W_V(x).unflatten(-1, cut)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k)
        if mask is not None:
            scores = scores.masked_fill(mask.bool()[:, None, None, :], float("-inf"))
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        out = x + F.dropout(self.fc(mixed), self.p, self.training)
        return F.layer_norm(out, out.shape[-1:], self.layer_norm.weight, self.layer_norm.bias)
