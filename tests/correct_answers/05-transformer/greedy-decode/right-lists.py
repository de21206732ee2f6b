def greedy_decode(model, source, max_length, bos=1, eos=2, padding=0):
    written = [[bos] for _ in range(len(source))]
    ended = [False] * len(source)
    for _ in range(max_length):
        if all(ended):
            break
        best = model(source, torch.tensor(written))[:, -1].argmax(dim=1).tolist()
        for b, word in enumerate(best):
            written[b].append(padding if ended[b] else word)
            ended[b] = ended[b] or word == eos
    return torch.tensor([row[1:] for row in written])
