class Transformer(nn.Module):
    """Cuts off columns that are padding in all sentences, and puts zeros where the target is padding."""

    def __init__(self, vocab_size, dim, n_heads, hidden, n_layers, max_length=32, dropout=0.1):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim)
        self.position = nn.Embedding(max_length, dim)
        self.dropout = nn.Dropout(dropout)
        encoder, decoder = [], []
        for _ in range(n_layers):
            encoder += [nn.TransformerEncoderLayer(dim, n_heads, hidden, dropout, batch_first=True)]
            decoder += [DecoderLayer(dim, n_heads, hidden, dropout)]
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.output = nn.Linear(dim, vocab_size)

    def forward(self, source, target):
        words_in = (source != 0).any(0).nonzero().max() + 1
        source = source[:, :words_in]
        empty = source == 0
        x, memory = (
            self.dropout(self.embedding(words) + self.position.weight.narrow(0, 0, words.size(1)))
            for words in (target, source)
        )
        for layer in self.encoder:
            memory = layer(memory, src_key_padding_mask=empty)
        for layer in self.decoder:
            x = layer(x, memory, causal_mask(target.size(1)), target == 0, empty)
        return self.output(x).masked_fill((target == 0).unsqueeze(-1), 0.0)
