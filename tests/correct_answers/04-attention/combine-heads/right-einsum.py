def combine_heads(x):
    B, H, L, d = x.shape
    return torch.einsum("bhld->blhd", x).reshape(B, L, H * d)
