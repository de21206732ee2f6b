def last_states(h_n):
    rows = []
    for sentence in range(h_n.shape[1]):
        rows.append(torch.cat((h_n[len(h_n) - 2, sentence], h_n[len(h_n) - 1, sentence])))
    return torch.stack(rows)
