class EncoderDecoder(nn.Module):
    def __init__(self, vocab_size: int, embedding_dim: int, hidden_dim: int) -> None:
        super().__init__()
        for side in ("source", "target"):
            setattr(self, f"{side}_embedding", nn.Embedding(vocab_size, embedding_dim, padding_idx=0))
        self.encoder = nn.GRU(embedding_dim, hidden_dim)
        self.decoder = nn.GRU(embedding_dim, hidden_dim)
        self.output = nn.Linear(hidden_dim, vocab_size)

    def encode(self, source, lengths):
        states, _ = self.encoder(self.source_embedding(source.T))          # (S, B, D)
        index = (lengths - 1).view(1, -1, 1).expand(1, -1, states.size(-1))
        return states.gather(0, index)[0]

    def forward(self, source, lengths, target_in):
        c = self.encode(source, lengths)
        states, _ = self.decoder(self.target_embedding(target_in.T), c.unsqueeze(0).contiguous())
        return self.output(states).transpose(0, 1)
