def attend(score, h, mask=None):
    if mask is None:
        alpha = F.softmax(score, dim=1)
    else:
        shown = mask == 0
        smallest = torch.finfo(score.dtype).min
        alpha = F.softmax(score.masked_fill(~shown, smallest), dim=1) * shown
    context = h.transpose(1, 2) @ alpha.unsqueeze(2)
    return context.squeeze(2), alpha
