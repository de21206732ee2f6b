class ScaledDotProductAttention(nn.Module):
    def __init__(self, scale, dropout=0.5):
        super().__init__()
        self.scale = scale
        self.drop = nn.Dropout(0.0 if dropout is None else dropout)

    def _one(self, q, k, v, hidden):
        score = q @ k.T / self.scale    # (T, L)
        if hidden is not None:
            score = torch.where(hidden, -math.inf, score)
        att = self.drop(torch.softmax(score, dim=1))
        return att @ v, att

    def forward(self, Q, K, V, mask=None):
        contexts, atts = [], []
        for b in range(Q.size(0)):
            hidden = None if mask is None else mask[b] != 0
            pairs = [self._one(Q[b, h], K[b, h], V[b, h], hidden) for h in range(Q.size(1))]
            contexts.append(torch.stack([c for c, _ in pairs]))
            atts.append(torch.stack([a for _, a in pairs]))
        return torch.stack(contexts), torch.stack(atts)
