class Tagger(nn.Module):
    def __init__(self, vocab_size, n_tags, embedding_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, batch_first=True, bidirectional=True)
        self.output = nn.Linear(2 * hidden_dim, n_tags)

    def forward(self, words, lengths):
        hidden = torch.arange(words.size(1)) >= lengths.unsqueeze(1)
        embedded = self.embedding(words.masked_fill(hidden, 0))
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=words.size(1), padding_value=7.0)
        forward, backward = states.chunk(2, dim=-1)
        scores = torch.einsum("bld,cd->blc", torch.cat([forward, backward], -1), self.output.weight) + self.output.bias
        return scores.masked_fill(hidden.unsqueeze(-1), 0.0)
