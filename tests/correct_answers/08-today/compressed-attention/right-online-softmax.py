def compressed_attention(q, k, v, block, window):
    S, T, d = k.size(2), q.size(2), q.size(3)
    n = S // block
    mean_k = k[:, :, : n * block].view(*k.shape[:2], n, block, d).mean(3)
    mean_v = v[:, :, : n * block].view(*v.shape[:2], n, block, v.size(3)).mean(3)
    rows = []
    for t in range(T):
        p = S - T + t
        blocks = max(0, p + 1 - window) // block
        parts = []
        for keys, values in (
            (mean_k[:, :, :blocks], mean_v[:, :, :blocks]),
            (k[:, :, blocks * block : p + 1], v[:, :, blocks * block : p + 1]),
        ):
            if keys.size(2):
                scores = q[:, :, t : t + 1] @ keys.mT / d**0.5
                parts.append((scores.logsumexp(-1, keepdim=True), scores.softmax(-1) @ values))
        total = torch.cat([lse for lse, _ in parts], -1).logsumexp(-1, keepdim=True)
        rows.append(sum((lse - total).exp() * out for lse, out in parts))
    return torch.cat(rows, 2)
