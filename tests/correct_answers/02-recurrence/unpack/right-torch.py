def unpack(data, batch_sizes, order):
    packed = nn.utils.rnn.PackedSequence(data, torch.tensor(batch_sizes), order, torch.argsort(order))
    return pad_packed_sequence(packed, batch_first=True)[0]
