class MultiHeadAttention(nn.Module):
    """The multiplication left to torch, the weights from chunks."""

    def __init__(self, dim, n_heads):
        super().__init__()
        if dim % n_heads != 0:
            raise ValueError("the heads must share the width evenly")
        self.W_Q = nn.Linear(dim, dim)
        self.W_K = nn.Linear(dim, dim)
        self.W_V = nn.Linear(dim, dim)
        self.W_O = nn.Linear(dim, dim)
        self._n = n_heads
        self._scale = math.sqrt(dim / n_heads)

    def forward(self, query, key_value, mask=None):
        def split(z):
            return torch.stack(z.chunk(self._n, dim=-1), dim=1)

        scores = torch.matmul(split(self.W_Q(query)) / self._scale, split(self.W_K(key_value)).transpose(-1, -2))
        if mask is not None:
            while mask.dim() < 4:
                mask = mask.unsqueeze(1)
            scores = scores + torch.zeros_like(scores).masked_fill(mask != 0, -math.inf)
        weights = F.softmax(scores, dim=-1)
        heads = torch.matmul(weights, split(self.W_V(key_value)))
        return self.W_O(torch.cat(heads.unbind(1), dim=-1)), weights
