def dropout(x, p=0.5, training=True):
    if not training or p == 0:
        return x
    stays = 1 - p
    mask = torch.bernoulli(torch.full_like(x, stays, requires_grad=False))
    return x * mask * (1 / stays if stays > 0 else 0.0)
