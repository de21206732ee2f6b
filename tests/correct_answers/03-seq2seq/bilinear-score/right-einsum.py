def bilinear_score(s, h, W_a):
    return torch.einsum("bd,dm,bsm->bs", s, W_a, h)
