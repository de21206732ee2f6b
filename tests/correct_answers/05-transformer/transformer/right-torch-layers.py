class Transformer(nn.Module):
    """torch's decoder layers, and the two masks of the target in one."""

    def __init__(self, vocab_size, dim, n_heads, hidden, n_layers, max_length=32, dropout=0.1):
        super().__init__()
        self.n_heads = n_heads
        settings = dict(d_model=dim, nhead=n_heads, dim_feedforward=hidden, dropout=dropout, batch_first=True)
        self.encoder = nn.ModuleList()
        self.decoder = nn.ModuleList()
        for _ in range(n_layers):
            self.encoder.append(nn.TransformerEncoderLayer(**settings))
            self.decoder.append(nn.TransformerDecoderLayer(**settings))
        self.embedding, self.position = nn.Embedding(vocab_size, dim), nn.Embedding(max_length, dim)
        self.output = nn.Linear(dim, vocab_size)
        self.p = dropout

    def vectors(self, words):
        both = self.embedding(words) + self.position.weight[None, : words.shape[1]]
        return nn.functional.dropout(both, self.p, self.training)

    def forward(self, source, target):
        gap = source.eq(0)
        memory = self.vectors(source)
        for layer in self.encoder:
            memory = layer(memory, src_key_padding_mask=gap)
        mask = target_mask(target).repeat_interleave(self.n_heads, 0)
        x = self.vectors(target)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask=mask, memory_key_padding_mask=gap)
        return self.output(x)
