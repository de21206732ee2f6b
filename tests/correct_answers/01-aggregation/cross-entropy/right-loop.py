def loss_of_one(scores, c):
    biggest = scores.max()
    return biggest + torch.log(torch.exp(scores - biggest).sum()) - scores[c]


def cross_entropy(logits, target):
    losses = [loss_of_one(row, int(c)) for row, c in zip(logits, target)]
    return sum(losses) / len(losses)
