class ScaledDotProductAttention(nn.Module):
    def __init__(self, scale, dropout=0.5):
        super().__init__()
        self.scale = scale
        self.p = dropout

    def forward(self, Q, K, V, mask=None):
        score = torch.einsum("bhtd,bhld->bhtl", Q, K).div(self.scale)
        att = F.softmax(add_mask(score, mask), dim=-1)
        if self.p is not None:
            att = F.dropout(att, self.p, training=self.training)
        return [torch.einsum("bhtl,bhld->bhtd", att, V), att]
