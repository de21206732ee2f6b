def additive_score(s, h, W_a, U_a, v_a):
    rows = []
    for b in range(s.shape[0]):
        question = W_a @ s[b]
        rows.append(torch.stack([v_a.dot(torch.tanh(question + U_a @ word)) for word in h[b]]))
    return torch.stack(rows)
