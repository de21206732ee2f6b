def cross_entropy(logits, target):
    m = logits.max(1, keepdim=True).values
    shifted = logits - m
    log_sum = shifted.exp().sum(1).log()
    return (log_sum - shifted[torch.arange(len(target)), target]).mean()
