def cache_bytes(n_tokens, n_layers, n_kv_heads, head_width, bytes_each=2, n_chats=1):
    shape = (2, n_layers, n_chats, n_kv_heads, n_tokens, head_width)
    return math.prod(shape) * bytes_each
