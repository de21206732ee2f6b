def double_normalisation(score: torch.Tensor) -> torch.Tensor:
    shifted = score - score.logsumexp(-2, keepdim=True)
    share = (shifted - shifted.amax(-1, keepdim=True)).exp()
    return share / share.sum(-1, keepdim=True)
