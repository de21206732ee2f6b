def _longest_first(lengths):
    pairs = sorted(((int(n), b) for b, n in enumerate(lengths)), reverse=True)
    return [b for _, b in pairs]


def pack(x: torch.Tensor, lengths: torch.Tensor):
    order = _longest_first(lengths)
    remaining = lengths.clone()
    parts, sizes, t = [], [], 0
    while (remaining > 0).any():
        n = int((remaining > 0).sum())
        parts += [x[b, t].unsqueeze(0) for b in order[:n]]
        sizes.append(n)
        remaining = remaining - 1
        t += 1
    return torch.cat(parts, 0), sizes, order
