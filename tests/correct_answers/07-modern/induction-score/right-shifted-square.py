def induction_score(weights, tokens):
    same = tokens[:, :, None] == tokens[:, None, :]                     # (B, L, L): the token at t is the token at j
    same = same & torch.ones_like(same[0]).tril(-1)                   # at an earlier position
    right = F.pad(same, (1, 0))[:, :, :-1]                            # one position further on
    counts = right.sum(-1) > 0
    picked = torch.einsum("bhtj,btj->bht", weights, right.to(weights.dtype))
    return picked.permute(1, 0, 2)[:, counts].mean(1)
