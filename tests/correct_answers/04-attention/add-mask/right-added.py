def add_mask(x, mask=None):
    """Adds a mask that is 0 where a key is visible and minus infinity where it is hidden."""
    if mask is not None:
        infinite = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(mask.bool(), float("-inf"))
        x = x + (infinite.unsqueeze(1).unsqueeze(1) if x.ndim == 4 else infinite)
    return x
