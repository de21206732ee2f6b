def update_cache(cache, key, value, window, sinks=0):
    def longer(old, new):
        together = new if old is None else torch.cat([old, new], dim=2)
        n = together.shape[2]
        if n <= sinks + window:
            return together
        first, last = together.narrow(2, 0, sinks), together.narrow(2, n - window, window)
        return torch.cat([first, last], dim=2)

    old_keys, old_values = cache or (None, None)
    return longer(old_keys, key), longer(old_values, value)
