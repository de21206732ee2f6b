def dropout(x, p=0.5, training=True):
    if not training:
        return 1 * x
    scale = 0.0 if p == 1 else 1 / (1 - p)
    factors = [scale if coin >= p else 0.0 for coin in torch.rand(x.numel()).tolist()]
    return x * torch.tensor(factors, dtype=x.dtype).reshape(x.shape)
