def masked_cross_entropy(scores, tags, lengths):
    real = torch.arange(tags.shape[1])[None] < lengths[:, None]
    return F.cross_entropy(scores[real], tags[real])
