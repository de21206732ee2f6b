class Transformer(nn.Module):
    def __init__(
        self, vocab_size: int, dim: int, n_heads: int, hidden: int, n_layers: int,
        max_length: int = 32, dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.position = nn.Embedding(max_length, dim)
        self.register_buffer("places", torch.arange(max_length), persistent=False)
        self.drop_source, self.drop_target = nn.Dropout(dropout), nn.Dropout(dropout)
        self.encoder = nn.ModuleList(
            nn.TransformerEncoderLayer(dim, n_heads, dim_feedforward=hidden, dropout=dropout, batch_first=True)
            for _ in range(n_layers)
        )
        self.decoder = nn.ModuleList(DecoderLayer(dim, n_heads, hidden, dropout=dropout) for _ in range(n_layers))
        self.output = nn.Linear(dim, vocab_size)

    def encode(self, source):
        places = self.places[: source.size(1)].expand_as(source)
        h = self.drop_source(self.embedding(source) + self.position(places))
        for layer in self.encoder:
            h = layer(h, None, source == 0)
        return h

    def decode(self, target, memory, memory_padding):
        places = self.places[: target.size(1)].expand_as(target)
        s = self.drop_target(self.embedding(target) + self.position(places))
        for layer in self.decoder:
            s = layer(s, memory, future=causal_mask(target.size(1)), padding=target == 0, memory_padding=memory_padding)
        return s

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return self.output(self.decode(target, self.encode(source), source == 0))
