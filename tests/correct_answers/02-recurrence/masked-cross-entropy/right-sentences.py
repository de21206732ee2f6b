def _words(scores, tags, n):
    return F.nll_loss(F.log_softmax(scores[:n], dim=-1), tags[:n], reduction="sum")


def masked_cross_entropy(scores, tags, lengths):
    return sum(_words(s, t, n) for s, t, n in zip(scores, tags, lengths.tolist())) / lengths.sum()
