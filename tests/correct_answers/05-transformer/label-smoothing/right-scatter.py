def _log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    return logits - logits.logsumexp(-1, keepdim=True)


def label_smoothing(
    logits: torch.Tensor, target: torch.Tensor, smoothing: float = 0.1, padding: int = 0
) -> torch.Tensor:
    words = target != padding
    rows, right = _log_probabilities(logits[words]), target[words]
    q = torch.zeros_like(rows).scatter_(1, right[:, None], 1 - smoothing) + smoothing / rows.size(1)
    return F.kl_div(rows, q, reduction="sum") / len(right) - torch.special.xlogy(q, q).sum() / len(right)
