class _Weights(nn.Module):
    def __init__(self, scale: float, dropout: float | None):
        super().__init__()
        self.scale = scale
        self.dropout = None if dropout is None else nn.Dropout(p=dropout)

    def weights(self, Q, K, mask):
        score = (Q.unsqueeze(3) * K.unsqueeze(2)).sum(-1) / self.scale    # (B, H, T, L)
        att = torch.softmax(add_mask(score, mask), -1)
        return att if self.dropout is None else self.dropout(att)


class ScaledDotProductAttention(_Weights):
    def __init__(self, scale: float, dropout: float | None = 0.5):
        super().__init__(scale, dropout)

    def forward(self, Q, K, V, mask=None):
        att = self.weights(Q, K, mask)
        return (att.unsqueeze(-1) * V.unsqueeze(2)).sum(3), att
