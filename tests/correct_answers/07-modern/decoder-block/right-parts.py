def causal_bias(block, length):
    if block.rotary:
        return torch.full((length, length), -math.inf).triu(1)
    return alibi(block.n_heads, length)


class DecoderBlock(nn.Module):
    def __init__(self, dim, n_heads, hidden, rotary=True):
        super().__init__()
        self.norm1, self.norm2, self.feed_forward = RMSNorm(dim), RMSNorm(dim), SwiGLU(dim, hidden)
        self.W_Q = nn.Linear(dim, dim, bias=False)
        self.W_K = nn.Linear(dim, dim, bias=False)
        self.W_V = nn.Linear(dim, dim, bias=False)
        self.W_O = nn.Linear(dim, dim, bias=False)
        self.n_heads, self.rotary = n_heads, rotary
        self.steps = (lambda x: self.listen(self.norm1(x)), lambda x: self.feed_forward(self.norm2(x)))

    def split(self, x):
        return torch.stack(x.chunk(self.n_heads, -1), 1)

    def listen(self, x):
        positions = torch.arange(x.size(1), dtype=torch.float32)
        q, k = self.split(self.W_Q(x)), self.split(self.W_K(x))
        if self.rotary:
            q, k = (apply_rotary(part, positions) for part in (q, k))
        q = q / q.size(-1) ** 0.5
        weights = torch.softmax(q @ k.transpose(-2, -1) + causal_bias(self, x.size(1)).to(q), -1)
        return self.W_O(torch.cat((weights @ self.split(self.W_V(x))).unbind(1), -1))

    def forward(self, x):
        for step in self.steps:
            x = x + step(x)
        return x
