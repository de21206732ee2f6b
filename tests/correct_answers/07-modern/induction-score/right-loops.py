def induction_score(weights, tokens):
    B, H, L, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        seen = {}
        for t, token in enumerate(tokens[b].tolist()):
            if token in seen:
                total = total + weights[b, :, t, [position + 1 for position in seen[token]]].sum(-1)
                count += 1
            seen.setdefault(token, []).append(t)
    return total / count
