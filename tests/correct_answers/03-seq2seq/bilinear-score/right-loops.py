def bilinear_score(s, h, W_a):
    scores = []
    for state, words in zip(s, h):
        scores.append(torch.stack([state @ W_a @ word for word in words]))
    return torch.stack(scores)
