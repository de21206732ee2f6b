def label_smoothing(logits, target, smoothing=0.1, padding=0):
    return F.cross_entropy(
        logits.reshape(-1, logits.size(-1)), target.reshape(-1), ignore_index=padding, label_smoothing=smoothing
    )
