def split_heads(x, n_heads):
    batch_size, dim = x.size(0), x.size(-1)
    heads = x.reshape(batch_size, -1, n_heads, dim // n_heads)
    return torch.einsum("blhd->bhld", heads).contiguous()
