def masked_cross_entropy(scores, tags, lengths):
    hidden = torch.arange(tags.shape[1]) >= lengths.unsqueeze(1)
    tags = tags.masked_fill(hidden, -100)
    return F.cross_entropy(scores.transpose(1, 2), tags, ignore_index=-100)
