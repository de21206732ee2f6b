def target_mask(words, padding=0):
    B, T = words.shape
    mask = torch.zeros(B, T, T, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            for j in range(T):
                mask[b, t, j] = j > t or words[b, j].item() == padding
    return mask
