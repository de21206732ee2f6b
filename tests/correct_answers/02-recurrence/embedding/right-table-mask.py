class Embedding(nn.Module):
    def __init__(self, vocab_size, dim, padding_idx=None):
        super().__init__()
        self.n, self.dim, self.pad = vocab_size, dim, padding_idx
        self.weight = nn.Parameter(torch.empty(vocab_size, dim))
        nn.init.normal_(self.weight)
        if padding_idx is not None:
            self.weight.data[padding_idx].zero_()

    def forward(self, ids):
        table = self.weight
        if self.pad is not None:
            keep = torch.ones(self.n, 1, dtype=table.dtype)
            keep[self.pad] = 0
            table = table * keep + table.detach() * (1 - keep)
        return table.index_select(0, ids.flatten()).view(*ids.shape, self.dim)

    @classmethod
    def from_pretrained(cls, table, freeze=True, padding_idx=None):
        vocab_size, dim = table.shape
        made = cls(vocab_size, dim, padding_idx)
        with torch.no_grad():
            made.weight.copy_(table)
        made.weight.requires_grad_(not freeze)
        return made
