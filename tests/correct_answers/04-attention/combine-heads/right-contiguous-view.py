def combine_heads(x: torch.Tensor) -> torch.Tensor:
    batch_size, n_heads, length, d_head = x.size()
    return x.transpose(1, 2).contiguous().view(batch_size, length, n_heads * d_head)
