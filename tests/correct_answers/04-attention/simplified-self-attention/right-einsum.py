class SimplifiedSelfAttention(nn.Module):
    def __init__(self, dim, n_heads=8, dropout=None):
        super().__init__()
        if dim % n_heads:
            raise ValueError("dim must be divisible by n_heads")
        self.shape = (n_heads, dim // n_heads)
        self.fc = nn.Linear(dim, dim)
        self.layer_norm = nn.LayerNorm(dim)
        self.p = dropout or 0.0

    def forward(self, x, mask=None):
        heads = x.unflatten(-1, self.shape)
        scores = torch.einsum("bthd,blhd->bhtl", heads * self.shape[1] ** -0.5, heads)
        if mask is not None:
            scores = torch.where(mask[:, None, None] != 0, -math.inf, scores)
        weights = F.dropout(F.softmax(scores, dim=-1), self.p, training=self.training)
        out = self.fc(torch.einsum("bhtl,blhd->bthd", weights, heads).flatten(2))
        out = F.dropout(out, self.p, training=self.training)
        return F.layer_norm(x + out, x.shape[-1:], self.layer_norm.weight, self.layer_norm.bias)
