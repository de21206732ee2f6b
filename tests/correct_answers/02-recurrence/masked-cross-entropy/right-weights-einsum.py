def masked_cross_entropy(scores, tags, lengths):
    B, L, C = scores.shape
    m = (torch.arange(L).expand(B, L) >= lengths.reshape(B, 1)).to(scores.dtype)
    right = F.one_hot(tags.clamp(0, C - 1), C).to(scores.dtype)
    log_p = scores - torch.logsumexp(scores, -1, keepdim=True)
    return -torch.einsum("blc,blc,bl->", log_p, right, 1 - m) / (1 - m).sum()
