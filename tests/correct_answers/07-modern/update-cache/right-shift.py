def update_cache(cache, key, value, window, sinks=0):
    if cache is None:
        return key.clone(), value.clone()
    keys, values = cache
    full = keys.size(2) == sinks + window
    result = []
    for old, new in ((keys, key), (values, value)):
        tokens = list(old.unbind(2))
        if full:
            tokens.pop(sinks)
        tokens.append(new.squeeze(2))
        result.append(torch.stack(tokens, 2))
    return tuple(result)
