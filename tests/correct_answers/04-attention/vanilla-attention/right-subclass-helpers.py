def softmax_by_hand(score):
    shifted = score - score.amax(dim=-1, keepdim=True).detach()
    powers = shifted.exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def weighted_mean(weights, vectors):
    return torch.matmul(weights.unsqueeze(-2), vectors).squeeze(-2)


class Attention(nn.Module):
    def __init__(self, dim, names):
        super().__init__()
        for name in names:
            setattr(self, name, nn.Linear(dim, dim))
        self._dim = dim


class VanillaAttention(Attention):
    def __init__(self, dim: int) -> None:
        super().__init__(dim, ["fc_value", "fc_query", "fc_align"])

    def _weights(self, query, key):
        return softmax_by_hand(torch.matmul(self.fc_align(key), query.unsqueeze(-1)).squeeze(-1))

    def forward(self, query: torch.Tensor, key: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        att = self._weights(query, key)
        return torch.tanh(self.fc_query(query).add(self.fc_value(weighted_mean(att, key)))), att
