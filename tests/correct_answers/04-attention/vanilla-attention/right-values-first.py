class VanillaAttention(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.fc_align, self.fc_query, self.fc_value = (nn.Linear(dim, dim) for _ in range(3))

    def forward(self, query, key):
        # The matrix may move to the query's side if it is transposed; the bias changes no weight.
        turned = query @ self.fc_align.weight                                      # (B, D)
        score = (turned.unsqueeze(1) * key).sum(-1) + (query @ self.fc_align.bias).unsqueeze(1)
        att = torch.softmax(score, dim=1)
        # The weights sum to 1, so the linear layer and the mean may change places.
        value = self.fc_value(key)                                                 # (B, L, D)
        return (self.fc_query(query) + (att[..., None] * value).sum(dim=1)).tanh(), att
