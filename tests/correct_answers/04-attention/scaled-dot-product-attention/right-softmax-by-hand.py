def _softmax(score):
    score = score - score.max(dim=-1, keepdim=True).values
    e = torch.exp(score)
    return e / e.sum(dim=-1, keepdim=True)


class ScaledDotProductAttention(nn.Module):
    def __init__(self, scale, dropout=0.5):
        super().__init__()
        self.register_buffer("factor", torch.tensor(1.0 / scale, dtype=torch.float64), persistent=False)
        self.dropout = dropout

    def forward(self, Q, K, V, mask=None):
        score = torch.matmul(Q, K.mT) * self.factor.to(Q.dtype)
        if mask is not None:
            score = score.masked_fill(mask.bool()[:, None, None, :], float("-inf"))
        att = _softmax(score)
        if self.training and self.dropout is not None:
            keep = (torch.rand_like(att) >= self.dropout).to(att.dtype)
            att = att * keep / (1 - self.dropout)
        context = torch.matmul(att, V)
        return context, att
