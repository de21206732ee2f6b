def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    rows = []
    for z in logits:
        V = len(z)
        if temperature == 0:
            kept = z == z.max()
            rows.append(kept.to(z.dtype) / kept.sum())
            continue
        z = z / temperature
        order = sorted(range(V), key=lambda v: -float(z[v]))
        if top_k is not None and top_k < V:
            limit = float(z[order[top_k - 1]])
            z = torch.where(z >= limit, z, torch.full_like(z, -math.inf))
        p = torch.softmax(z, 0)
        if top_p is not None:
            total, limit = 0.0, 0.0
            for v in order:
                total += float(p[v])
                limit = float(p[v])
                if total >= top_p:
                    break
            p = torch.where(p >= limit, p, torch.zeros_like(p))
            p = p / p.sum()
        rows.append(p)
    return torch.stack(rows)
