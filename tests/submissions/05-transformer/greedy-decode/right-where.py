def table_writer(table):
    """
    Given. A model without parameters, table (N, N, V): at each place it looks up the logits in row table[a, b],
    where a is the first word of the source, and b the sum of all words so far, BOS included (both modulo N).
    """
    def model(source, target):                                         # (B, S), (B, t) -> (B, t, V)
        return table[source[:, :1] % len(table), target.cumsum(1) % len(table)]

    return model


def greedy_decode(model, source, max_length, bos=1, eos=2, padding=0):
    words = source.new_full((len(source), 1), bos)
    still = torch.ones(len(source), 1, dtype=torch.int64)
    while words.size(1) <= max_length and still.any():
        probabilities = model(source, words)[:, -1:].softmax(-1)
        best = probabilities.topk(1, -1).indices[..., 0]
        words = torch.hstack((words, torch.where(still == 1, best, padding)))
        still = still * (best != eos)
    return words.narrow(1, 1, words.size(1) - 1)
