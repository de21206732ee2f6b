def bilinear_score(s, h, W_a):
    return torch.bmm(torch.matmul(s, W_a).unsqueeze(1), h.transpose(1, 2)).squeeze(1)
