def to_ids(sentences: list[list[str]], vocabulary: dict[str, int]):
    longest = max(len(s) for s in sentences)
    rows = []
    for s in sentences:
        row = [vocabulary[w] if w in vocabulary else 1 for w in s]
        rows.append(row + [0] * (longest - len(row)))
    return [torch.tensor(rows), torch.LongTensor([len(s) for s in sentences])]
