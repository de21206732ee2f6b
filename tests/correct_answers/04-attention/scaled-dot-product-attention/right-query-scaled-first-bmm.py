class ScaledDotProductAttention(nn.Module):
    """Scales the query before the product, and joins batch and heads for bmm."""

    def __init__(self, scale: float, dropout: float = 0.5) -> None:
        super(ScaledDotProductAttention, self).__init__()
        self.scale = scale
        self.softmax = nn.Softmax(dim=-1)
        self.dropout = nn.Identity() if dropout is None else nn.Dropout(dropout)
        self.last_att = None

    def forward(self, Q, K, V, mask=None):
        B, H, T, _ = Q.shape
        L = K.shape[2]
        score = torch.bmm((Q / self.scale).flatten(0, 1), K.flatten(0, 1).transpose(1, 2)).view(B, H, T, L)
        self.last_att = self.dropout(self.softmax(add_mask(score, mask)))
        context = torch.bmm(self.last_att.flatten(0, 1), V.flatten(0, 1)).view(B, H, T, -1)
        return context, self.last_att
