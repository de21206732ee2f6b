def double_normalisation(score):
    without_z = score - torch.logsumexp(score, dim=-2, keepdim=True)
    return torch.softmax(without_z, dim=-1)
