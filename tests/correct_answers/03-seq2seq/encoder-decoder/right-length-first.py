class EncoderDecoder(nn.Module):
    def __init__(self, n_words: int, embedding: int, width: int) -> None:
        super().__init__()
        for side in ("source", "target"):
            setattr(self, f"{side}_embedding", nn.Embedding(n_words, embedding, padding_idx=0))
        self.encoder = nn.GRU(embedding, width)
        self.decoder = nn.GRU(embedding, width)
        self.output = nn.Linear(width, n_words)

    def encode(self, source, lengths):
        states, _ = self.encoder(self.source_embedding(source.T))          # (S, B, D)
        index = (lengths - 1).view(1, -1, 1).expand(1, -1, states.size(-1))
        return states.gather(0, index)[0]

    def forward(self, source, lengths, target_in):
        c = self.encode(source, lengths)
        states, _ = self.decoder(self.target_embedding(target_in.T), c.unsqueeze(0).contiguous())
        return self.output(states).transpose(0, 1)
