def kv_cache_bytes(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value=2, batch_size=1):
    key = n_kv_heads * head_dim * bytes_per_value
    token = n_layers * (key + key)
    return batch_size * n_tokens * token
