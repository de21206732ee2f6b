def label_smoothing(logits, target, smoothing=0.1, padding=0):
    V = logits.shape[-1]
    q = (1 - smoothing) * F.one_hot(target, V).to(logits.dtype) + smoothing / V
    shifted = logits - logits.amax(-1, keepdim=True)
    log_p = shifted - torch.log(torch.exp(shifted).sum(-1, keepdim=True))
    cost = -torch.einsum("btv,btv->bt", q, log_p)
    weight = (target != padding).to(logits.dtype)
    return (cost * weight).sum() / weight.sum()
