def attend(score, h, mask=None):
    hidden = torch.zeros_like(score, dtype=torch.bool) if mask is None else mask.bool()
    penalty = torch.zeros_like(score).masked_fill(hidden, float("-inf"))
    alpha = torch.softmax(score.masked_fill(hidden, 0.0) + penalty, dim=-1)
    return torch.bmm(alpha.unsqueeze(1), h).squeeze(1), alpha
