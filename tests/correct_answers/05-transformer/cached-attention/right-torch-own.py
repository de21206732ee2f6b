def cached_attention(x, cache, in_weight, in_bias, out_weight, out_bias, n_heads):
    B, D = x.shape
    query, key, value = F.linear(x[:, None], in_weight, in_bias).split(D, dim=-1)
    if cache is not None:
        key, value = (torch.cat([old, new], 1) for old, new in zip(cache, (key, value)))
    heads = [part.reshape(B, -1, n_heads, D // n_heads).transpose(1, 2) for part in (query, key, value)]
    heard = F.scaled_dot_product_attention(*heads)
    return F.linear(heard.transpose(1, 2).reshape(B, D), out_weight, out_bias), (key, value)
