def route_tokens(logits, k):
    N, M = logits.shape
    experts, shares, counts = [], [], [0] * M
    for row in logits:
        best = torch.sort(row, descending=True).indices[:k]
        for e in best.tolist():
            counts[e] += 1
        experts.append(best)
        raised = (row[best] - row[best[0]]).exp()
        shares.append(raised / raised.sum())
    mean = torch.stack([row.softmax(0) for row in logits]).mean(0)
    balance = sum(counts[e] / (N * k) * mean[e] for e in range(M)) * M
    return torch.stack(experts), torch.stack(shares), balance
