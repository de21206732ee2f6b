def kv_cache_bytes(n_tokens, n_layers, n_kv_heads, head_dim, bytes_per_value=2, batch_size=1):
    width = torch.empty(n_kv_heads, head_dim, device="meta").numel()
    total = 0
    for _layer in range(n_layers):
        for _part in ("keys", "values"):
            total += batch_size * n_tokens * width * bytes_per_value
    return total
