class Transformer(nn.Module):
    """Weights that begin small, as in GPT; encoding and decoding are methods."""

    def __init__(self, vocab_size, dim, n_heads, hidden, n_layers, max_length=32, dropout=0.1):
        super().__init__()
        self.embedding, self.position = nn.Embedding(vocab_size, dim), nn.Embedding(max_length, dim)
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        for _ in range(n_layers):
            self.encoder.append(nn.TransformerEncoderLayer(dim, n_heads, hidden, dropout, batch_first=True))
            self.decoder.append(DecoderLayer(dim, n_heads, hidden, dropout))
        self.output = nn.Linear(dim, vocab_size)
        self.dropout = nn.Dropout(dropout)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def encode(self, source):
        memory = self.vectors(source)
        for layer in self.encoder:
            memory = layer(memory, src_key_padding_mask=source.eq(0))
        return memory

    def decode(self, memory, source, target):
        x = self.vectors(target)
        for layer in self.decoder:
            x = layer(x, memory, causal_mask(target.shape[1]), target.eq(0), source.eq(0))
        return self.output(x)

    def vectors(self, words):
        return self.dropout(self.embedding(words) + self.position(torch.arange(words.shape[1]).expand_as(words)))

    def forward(self, source, target):
        return self.decode(self.encode(source), source, target)
