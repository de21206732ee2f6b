def to_ids(sentences: list[list[str]], vocabulary: dict[str, int]) -> tuple[torch.Tensor, torch.Tensor]:
    def number(word):
        try:
            return vocabulary[word]
        except KeyError:
            return 1

    lengths = torch.tensor(list(map(len, sentences)), dtype=torch.int64)
    ids = torch.full((len(sentences), lengths.max().item()), 0)
    for b, sentence in enumerate(sentences):
        ids[b, :lengths[b]] = torch.tensor([number(word) for word in sentence])
    return ids, lengths
