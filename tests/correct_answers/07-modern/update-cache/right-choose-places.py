def update_cache(cache, key, value, window, sinks=0):
    if cache is not None:
        key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
    n = key.size(2)
    keep = [place for place in range(n) if place < sinks or place >= n - window]
    return key[:, :, keep], value[:, :, keep]
