class SelfAttention(nn.Module):
    """One head after the other, softmax and norm by hand."""

    def __init__(self, dim: int, n_heads: int = 8, dropout=None):
        super(SelfAttention, self).__init__()
        d_head, rest = divmod(dim, n_heads)
        if rest:
            raise ValueError("dim must be a multiple of n_heads")
        self.slices = [slice(h * d_head, (h + 1) * d_head) for h in range(n_heads)]
        self.scale = d_head**-0.5
        self.layer_norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)
        self.W_V = nn.Linear(dim, dim)
        self.W_K = nn.Linear(dim, dim)
        self.W_Q = nn.Linear(dim, dim)
        self.drop_weights = nn.Dropout(dropout or 0.0)
        self.drop_output = nn.Dropout(dropout or 0.0)

    def one_head(self, q, k, v, hidden):
        scores = torch.bmm(q, k.transpose(1, 2)) * self.scale
        if hidden is not None:
            scores = scores.masked_fill(hidden.unsqueeze(1), -math.inf)
        raised = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        return torch.bmm(self.drop_weights(raised / raised.sum(-1, keepdim=True)), v)

    def forward(self, x, mask=None):
        hidden = None if mask is None else mask != 0
        q, k, v = self.W_Q(x), self.W_K(x), self.W_V(x)
        heads = [self.one_head(q[:, :, s], k[:, :, s], v[:, :, s], hidden) for s in self.slices]
        out = self.drop_output(self.fc(torch.cat(heads, dim=2))) + x
        mean = out.mean(-1, keepdim=True)
        variance = ((out - mean) ** 2).mean(-1, keepdim=True)
        out = (out - mean) / torch.sqrt(variance + self.layer_norm.eps)
        return out * self.layer_norm.weight + self.layer_norm.bias
