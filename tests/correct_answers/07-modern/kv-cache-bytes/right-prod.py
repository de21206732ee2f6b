def kv_cache_bytes(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value=2, batch_size=1):
    shape = (2, n_layers, batch_size, n_kv_heads, n_tokens, head_dim)
    return math.prod(shape) * bytes_per_value
