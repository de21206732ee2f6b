class Embedding(nn.Embedding):
    def __init__(self, vocab_size, dim, padding_idx=None):
        super().__init__(vocab_size, dim, padding_idx=padding_idx)

    @classmethod
    def from_pretrained(cls, table, freeze=True, padding_idx=None):
        layer = cls(table.shape[0], table.shape[1], padding_idx)
        layer.weight = nn.Parameter(table.clone())
        layer.weight.requires_grad = not freeze
        return layer
