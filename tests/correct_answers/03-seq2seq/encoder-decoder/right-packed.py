from torch.nn.utils.rnn import pack_padded_sequence


class EncoderDecoder(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim):
        super().__init__()
        self.output = nn.Linear(hidden_dim, vocab_size)
        self.decoder = nn.GRU(embedding_dim, hidden_dim, batch_first=True)
        self.encoder = nn.GRU(embedding_dim, hidden_dim, batch_first=True)
        self.target_embedding = nn.Embedding(vocab_size, embedding_dim, 0)
        self.source_embedding = nn.Embedding(vocab_size, embedding_dim, 0)
        self._hidden_dim = hidden_dim

    def encode(self, source, lengths):
        packed = pack_padded_sequence(
            self.source_embedding(source), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        return self.encoder(packed)[1].squeeze(0)

    def forward(self, source, lengths, target_in):
        start = self.encode(source, lengths)[None]
        return self.output(self.decoder(self.target_embedding(target_in), start)[0])
