class DecoderBlock(nn.Module):
    def __init__(self, dim, n_heads, hidden, rotary=True):
        super().__init__()
        self.norm1 = RMSNorm(dim)
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.norm2 = RMSNorm(dim)
        self.feed_forward = SwiGLU(dim, hidden)
        self.n_heads, self.width, self.rotary = n_heads, dim // n_heads, rotary

    def forward(self, x):
        L = x.shape[1]
        told, out = self.norm1(x), []
        q, k, v = self.W_Q(told), self.W_K(told), self.W_V(told)
        future = torch.arange(L) > torch.arange(L)[:, None]
        for h in range(self.n_heads):
            part = slice(h * self.width, (h + 1) * self.width)
            qh, kh = q[..., part], k[..., part]
            if self.rotary:
                qh, kh = apply_rotary(qh, torch.arange(L)), apply_rotary(kh, torch.arange(L))
            scores = torch.einsum("btd,bsd->bts", qh, kh) * self.width**-0.5
            if not self.rotary:
                scores = scores + alibi(self.n_heads, L)[h].to(scores)
            weights = F.softmax(scores.masked_fill(future, -math.inf), dim=-1)
            out.append(weights @ v[..., part])
        x = x + self.W_O(torch.cat(out, -1))
        return x + self.feed_forward(self.norm2(x))
