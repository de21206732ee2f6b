def attend(score, h, mask=None):
    visible = torch.ones_like(score) if mask is None else (mask == 0).to(score.dtype)
    score = torch.where(visible > 0, score, torch.full_like(score, -torch.inf))
    exponent = torch.exp(score - score.max(dim=1, keepdim=True).values)
    alpha = exponent / exponent.sum(dim=1, keepdim=True)
    return [torch.einsum("bs,bsm->bm", alpha, h), alpha]
