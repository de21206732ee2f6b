class Coder(nn.Module):
    def _parts(self, vocab_size, embedding_dim, hidden_dim):
        self.source_embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.target_embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.encoder = nn.GRU(embedding_dim, hidden_dim, batch_first=True)
        self.decoder = nn.GRU(embedding_dim, hidden_dim, batch_first=True)
        self.output = nn.Linear(hidden_dim, vocab_size)


class EncoderDecoder(Coder):
    def __init__(self, vocab_size: int, embedding_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self._parts(vocab_size, embedding_dim, hidden_dim)

    def encode(self, source, lengths):
        states = self.encoder(self.source_embedding(source))[0]
        last = F.one_hot(lengths - 1, source.size(1)).to(states.dtype)     # (B, S)
        return torch.einsum("bs,bsd->bd", last, states)

    def forward(self, source, lengths, target_in):
        c = self.encode(source, lengths)
        return F.linear(
            self.decoder(self.target_embedding(target_in), c.view(1, *c.shape))[0], self.output.weight, self.output.bias
        )
