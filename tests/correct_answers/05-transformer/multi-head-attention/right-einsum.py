class MultiHeadAttention(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        if dim % n_heads:
            raise ValueError("n_heads must divide dim")
        self.h, self.d = n_heads, dim // n_heads
        for role in "QKVO":
            setattr(self, f"W_{role}", nn.Linear(dim, dim))

    def forward(self, query, key_value, mask=None):
        B, T, D = query.shape
        S = key_value.shape[1]
        q = self.W_Q(query).view(B, T, self.h, self.d) * self.d**-0.5
        k = self.W_K(key_value).view(B, S, self.h, self.d)
        v = self.W_V(key_value).view(B, S, self.h, self.d)
        score = torch.einsum("bthd,bshd->bhts", q, k)
        if mask is not None:
            hide = mask.bool()
            hide = hide[:, None, None, :] if hide.ndim == 2 else hide[:, None, :, :]
            score = torch.where(hide, float("-inf"), score)
        weights = torch.softmax(score, dim=3)
        out = torch.einsum("bhts,bshd->bthd", weights, v).reshape(B, T, D)
        return [self.W_O(out), weights]
