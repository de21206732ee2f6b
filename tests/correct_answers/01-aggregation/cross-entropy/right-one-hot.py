def cross_entropy(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    one_hot = F.one_hot(target, logits.shape[1]).to(logits.dtype)
    log_p = logits - torch.logsumexp(logits, dim=1, keepdim=True)
    return -(one_hot * log_p).sum() / logits.shape[0]
