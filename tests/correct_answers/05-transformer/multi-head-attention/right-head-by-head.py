class MultiHeadAttention(nn.Module):
    def __init__(self, dim: int, n_heads: int) -> None:
        super().__init__()
        if dim % n_heads != 0:
            raise ValueError(f"{n_heads} heads cannot share {dim}")
        self.n_heads = n_heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, query, key_value, mask=None):
        Q, K, V = self.W_Q(query), self.W_K(key_value), self.W_V(key_value)
        head_dim = Q.shape[-1] // self.n_heads
        contexts, weights = [], []
        for h in range(self.n_heads):
            part = slice(h * head_dim, (h + 1) * head_dim)
            score = torch.bmm(Q[:, :, part], K[:, :, part].transpose(1, 2)) / head_dim**0.5
            if mask is not None:
                hide = mask if mask.dim() == 3 else mask[:, None, :].repeat(1, Q.shape[1], 1)
                score = score.masked_fill(hide != 0, -1e9)
            score = score - score.amax(-1, keepdim=True)
            w = score.exp() / score.exp().sum(-1, keepdim=True)
            weights.append(w)
            contexts.append(torch.bmm(w, V[:, :, part]))
        return self.W_O(torch.cat(contexts, -1)), torch.stack(weights, 1)
