class Base(nn.Module):
    def sort(self, lengths):
        order = torch.argsort(lengths, descending=True)
        return order, torch.argsort(order)


class Tagger(Base):
    def __init__(self, vocab_size, n_tags, embedding_dim, hidden_dim):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.output = nn.Linear(2 * hidden_dim, n_tags)
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)

    def forward(self, words, lengths):
        order, home = self.sort(lengths)
        packed = pack_padded_sequence(self.embedding(words[order]), lengths[order], batch_first=True)
        states = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0][home]
        missing = words.size(1) - states.size(1)
        if missing:
            blank = torch.zeros(len(words), missing, 2 * self.hidden_dim, dtype=states.dtype)
            states = torch.cat([states, blank], dim=1)
        return self.output(states)
