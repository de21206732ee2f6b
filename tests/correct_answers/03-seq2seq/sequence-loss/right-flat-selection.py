def sequence_loss(logits, target_out, per="token"):
    chosen = target_out.flatten() != 0
    rows = logits.flatten(0, 1)[chosen]
    words = target_out.flatten()[chosen]
    if per == "token":
        return F.cross_entropy(rows, words)
    return F.nll_loss(F.log_softmax(rows, dim=1), words, reduction="sum") / target_out.shape[0]
