class Coder(nn.Module):
    def _parts(self, n_words, embedding, width):
        self.source_embedding = nn.Embedding(n_words, embedding, padding_idx=0)
        self.target_embedding = nn.Embedding(n_words, embedding, padding_idx=0)
        self.encoder = nn.GRU(embedding, width, batch_first=True)
        self.decoder = nn.GRU(embedding, width, batch_first=True)
        self.output = nn.Linear(width, n_words)


class EncoderDecoder(Coder):
    def __init__(self, n_words: int, embedding: int, width: int) -> None:
        super().__init__()
        self._parts(n_words, embedding, width)

    def encode(self, source, lengths):
        states = self.encoder(self.source_embedding(source))[0]
        last = F.one_hot(lengths - 1, source.size(1)).to(states.dtype)     # (B, S)
        return torch.einsum("bs,bsd->bd", last, states)

    def forward(self, source, lengths, target_in):
        c = self.encode(source, lengths)
        return F.linear(
            self.decoder(self.target_embedding(target_in), c.view(1, *c.shape))[0], self.output.weight, self.output.bias
        )
