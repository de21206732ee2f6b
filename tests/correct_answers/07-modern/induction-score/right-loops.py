def induction_score(weights, words):
    B, H, L, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        seen = {}
        for t, word in enumerate(words[b].tolist()):
            if word in seen:
                total = total + weights[b, :, t, [place + 1 for place in seen[word]]].sum(-1)
                count += 1
            seen.setdefault(word, []).append(t)
    return total / count
