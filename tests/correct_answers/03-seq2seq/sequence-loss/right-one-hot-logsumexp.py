def sequence_loss(logits, target_out, per="token"):
    V = logits.size(-1)
    right = F.one_hot(target_out, V).to(logits.dtype)
    right[..., 0] = 0
    cost = torch.logsumexp(logits, -1) - torch.einsum("btv,btv->bt", logits, right)
    real = right.sum(-1)
    total = (cost * real).sum()
    return total / {"token": real.sum(), "sentence": torch.tensor(float(len(logits)))}[per]
