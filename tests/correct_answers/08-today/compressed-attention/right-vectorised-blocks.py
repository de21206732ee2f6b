def compressed_attention(q, k, v, block, window):
    T, S, d = q.size(2), k.size(2), q.size(3)
    n = S // block
    position = torch.arange(S - T, S)
    start = (position - window + 1).clamp(min=0) // block * block
    mean_k = torch.stack([k[:, :, i * block : (i + 1) * block].mean(2) for i in range(n)] or [k[:, :, 0]], 2)
    mean_v = torch.stack([v[:, :, i * block : (i + 1) * block].mean(2) for i in range(n)] or [v[:, :, 0]], 2)
    first = int(start.min())
    own_k, own_v = k[:, :, first:], v[:, :, first:]
    old = q @ mean_k.mT / d**0.5
    old = old.masked_fill(torch.arange(mean_k.size(2)) >= (start // block).unsqueeze(1), -math.inf)
    own = q @ own_k.mT / d**0.5
    places = torch.arange(first, S)
    own = own.masked_fill((places > position.unsqueeze(1)) | (places < start.unsqueeze(1)), -math.inf)
    weights = torch.cat([old, own], -1).softmax(-1)
    return weights[..., : old.size(-1)] @ mean_v + weights[..., old.size(-1) :] @ own_v
