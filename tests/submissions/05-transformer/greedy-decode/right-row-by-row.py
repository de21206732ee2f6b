def table_writer(table):
    """
    Given. A model without parameters, table (N, N, V): at each place it looks up the logits in row table[a, b],
    where a is the first word of the source, and b the sum of all words so far, BOS included (both modulo N).
    """
    def model(source, target):                                         # (B, S), (B, t) -> (B, t, V)
        return table[source[:, :1] % len(table), target.cumsum(1) % len(table)]

    return model


def greedy_decode(model, source, max_length, bos=1, eos=2, padding=0):
    rows = []
    for one in source:
        words = [bos]
        while len(words) - 1 < max_length:
            logits = model(one.unsqueeze(0), torch.tensor([words]))
            words.append(int(logits[0, -1].argmax()))
            if words[-1] == eos:
                break
        rows.append(words[1:])
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [padding] * (longest - len(row)) for row in rows])
