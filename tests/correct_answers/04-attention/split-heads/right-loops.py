def split_heads(x, n_heads):
    B, L, D = x.size()
    d_head = D // n_heads
    out = x.new_empty(B, n_heads, L, d_head)
    for h in range(n_heads):
        for i in range(d_head):
            out[:, h, :, i] = x[:, :, h * d_head + i]
    return out
