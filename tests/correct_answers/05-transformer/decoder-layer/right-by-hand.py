def attend(attention, queries, keys, hidden, p, training):
    """Multi-head attention by hand, with the weights of nn.MultiheadAttention; hidden (B or 1, T or 1, L)."""
    D, H = queries.size(-1), attention.num_heads
    W_Q, W_K, W_V = attention.in_proj_weight.chunk(3)
    b_Q, b_K, b_V = attention.in_proj_bias.chunk(3)
    Q = (queries @ W_Q.T + b_Q).unflatten(-1, (H, D // H)).transpose(1, 2)
    K = (keys @ W_K.T + b_K).unflatten(-1, (H, D // H)).transpose(1, 2)
    V = (keys @ W_V.T + b_V).unflatten(-1, (H, D // H)).transpose(1, 2)
    scores = Q @ K.mT / math.sqrt(D // H)
    if hidden is not None:
        scores = scores.masked_fill(hidden.unsqueeze(1), -torch.inf)
    weights = F.dropout(scores.softmax(-1), p, training)
    return attention.out_proj((weights @ V).transpose(1, 2).flatten(2))


class DecoderLayer(nn.Module):
    def __init__(self, dim, n_heads, hidden, dropout=0.1):
        super().__init__()
        for name in ("self_attn", "multihead_attn"):
            setattr(self, name, nn.MultiheadAttention(dim, n_heads, batch_first=True))
        self.linear1 = nn.Linear(dim, hidden)
        self.linear2 = nn.Linear(hidden, dim)
        for n in (1, 2, 3):
            setattr(self, f"norm{n}", nn.LayerNorm(dim))
        self.p = dropout

    def forward(self, x, memory, future=None, padding=None, memory_padding=None):
        own = None
        if future is not None:
            own = future[None]
        if padding is not None:
            own = padding[:, None] if own is None else own | padding[:, None]
        theirs = None if memory_padding is None else memory_padding[:, None]
        parts = [
            (self.norm1, lambda v: attend(self.self_attn, v, v, own, self.p, self.training)),
            (self.norm2, lambda v: attend(self.multihead_attn, v, memory, theirs, self.p, self.training)),
            (self.norm3, lambda v: self.linear2(F.dropout(self.linear1(v).clamp(min=0), self.p, self.training))),
        ]
        for norm, part in parts:
            x = norm(x + F.dropout(part(x), self.p, self.training))
        return x
