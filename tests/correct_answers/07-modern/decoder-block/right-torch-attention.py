class DecoderBlock(nn.Module):
    def __init__(self, dim, n_heads, hidden, rotary=True):
        super().__init__()
        self.H, self.rotary = n_heads, rotary
        for role in "QKVO":
            setattr(self, f"W_{role}", nn.Linear(dim, dim, bias=False))
        self.norm1, self.norm2 = RMSNorm(dim), RMSNorm(dim)
        self.feed_forward = SwiGLU(dim, hidden)

    def forward(self, x):
        B, L, D = x.shape
        told = self.norm1(x)
        q, k, v = (W(told).view(B, L, self.H, D // self.H).permute(0, 2, 1, 3) for W in (self.W_Q, self.W_K, self.W_V))
        if self.rotary:
            positions = torch.arange(L)
            heard = F.scaled_dot_product_attention(apply_rotary(q, positions), apply_rotary(k, positions), v, is_causal=True)
        else:
            heard = F.scaled_dot_product_attention(q, k, v, attn_mask=alibi(self.H, L).to(x.dtype))
        y = x + self.W_O(heard.permute(0, 2, 1, 3).reshape(B, L, D))
        return y + self.feed_forward(self.norm2(y))
