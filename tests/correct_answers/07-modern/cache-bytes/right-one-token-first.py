def cache_bytes(n_tokens, n_layers, n_kv_heads, head_width, bytes_each=2, n_chats=1):
    key = n_kv_heads * head_width * bytes_each
    token = n_layers * (key + key)
    return n_chats * n_tokens * token
