class DecoderLayer(nn.TransformerDecoderLayer):
    def __init__(self, dim, n_heads, hidden, dropout=0.1):
        super().__init__(dim, n_heads, hidden, dropout, batch_first=True)

    def forward(self, x, memory, future=None, padding=None, memory_padding=None):
        return super().forward(
            x, memory, tgt_mask=future, tgt_key_padding_mask=padding, memory_key_padding_mask=memory_padding
        )
