def unpack(data, batch_sizes, order):
    steps = torch.split(data, batch_sizes)
    sentences = [None] * len(order)
    for i, b in enumerate(order):
        sentences[int(b)] = torch.stack([step[i] for step in steps if len(step) > i])
    return nn.utils.rnn.pad_sequence(sentences, batch_first=True)
