class Tagger(nn.Module):
    def __init__(self, vocab_size: int, n_tags: int, embedding_dim: int, hidden_dim: int):
        super(Tagger, self).__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, num_layers=1, bidirectional=True)
        self.output = nn.Linear(2 * hidden_dim, n_tags)

    def forward(self, words, lengths):
        L = words.size(1)
        x = self.embedding(words.t())                                  # (L, B, E)
        packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
        out, _ = self.lstm(packed)
        out = nn.utils.rnn.PackedSequence(self.output(out.data), out.batch_sizes, out.sorted_indices, out.unsorted_indices)
        return pad_packed_sequence(out, total_length=L)[0].transpose(0, 1)
