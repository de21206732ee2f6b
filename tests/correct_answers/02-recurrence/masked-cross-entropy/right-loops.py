def masked_cross_entropy(scores, tags, lengths):
    total, count = 0.0, 0
    for b in range(len(lengths)):
        for t in range(int(lengths[b])):
            row = scores[b, t]
            row = row - row.max()
            total = total + row.exp().sum().log() - row[tags[b, t]]
            count += 1
    return total / count
