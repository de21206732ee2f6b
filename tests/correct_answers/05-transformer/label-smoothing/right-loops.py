def label_smoothing(logits, target, smoothing=0.1, padding=0):
    losses = []
    V = logits.size(2)
    for sentence, words in zip(logits, target.tolist()):
        for row, word in zip(sentence, words):
            if word == padding:
                continue
            log_p = row - torch.logsumexp(row, 0)
            q = torch.full_like(row, smoothing / V)
            q[word] += 1 - smoothing
            losses.append(-(q * log_p).sum())
    return torch.stack(losses).mean()
