def double_normalisation(score: torch.Tensor) -> torch.Tensor:
    by_slot = F.log_softmax(score.transpose(-1, -2), dim=-1)
    return F.softmax(by_slot, dim=-2).transpose(-1, -2)
