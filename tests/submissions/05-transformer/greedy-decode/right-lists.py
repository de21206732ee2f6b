def table_writer(table):
    """
    Given. A model without parameters, table (N, N, V): at each place it looks up the logits in row table[a, b],
    where a is the first word of the source, and b the sum of all words so far, BOS included (both modulo N).
    """
    def model(source, target):                                         # (B, S), (B, t) -> (B, t, V)
        return table[source[:, :1] % len(table), target.cumsum(1) % len(table)]

    return model


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
