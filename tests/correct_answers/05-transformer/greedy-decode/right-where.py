def greedy_decode(model, source, max_length, bos=1, eos=2, padding=0):
    words = source.new_full((len(source), 1), bos)
    still = torch.ones(len(source), 1, dtype=torch.int64)
    while words.size(1) <= max_length and still.any():
        probabilities = model(source, words)[:, -1:].softmax(-1)
        best = probabilities.topk(1, -1).indices[..., 0]
        words = torch.hstack((words, torch.where(still == 1, best, padding)))
        still = still * (best != eos)
    return words.narrow(1, 1, words.size(1) - 1)
