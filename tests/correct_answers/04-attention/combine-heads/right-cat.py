def combine_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)
