def to_ids(sentences, vocabulary):
    rows = [torch.tensor([vocabulary.get(word, 1) for word in sentence]) for sentence in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.tensor([len(row) for row in rows])
