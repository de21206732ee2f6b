def cache_bytes(n_tokens, n_layers, n_kv_heads, head_width, bytes_each=2, n_chats=1):
    width = torch.empty(n_kv_heads, head_width, device="meta").numel()
    total = 0
    for _layer in range(n_layers):
        for _part in ("keys", "values"):
            total += n_chats * n_tokens * width * bytes_each
    return total
