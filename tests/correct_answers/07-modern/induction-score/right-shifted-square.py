def induction_score(weights, words):
    same = words[:, :, None] == words[:, None, :]                     # (B, L, L): the word at t is the word at j
    same = same & torch.ones_like(same[0]).tril(-1)                   # at an earlier place
    right = F.pad(same, (1, 0))[:, :, :-1]                            # one place further on
    counts = right.sum(-1) > 0
    picked = torch.einsum("bhtj,btj->bht", weights, right.to(weights.dtype))
    return picked.permute(1, 0, 2)[:, counts].mean(1)
