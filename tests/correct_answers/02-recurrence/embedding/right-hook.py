class Embedding(nn.Module):
    def __init__(self, vocab_size, dim, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        self.weight = nn.Parameter(torch.randn(vocab_size, dim))
        if padding_idx is not None:
            with torch.no_grad():
                self.weight[padding_idx].fill_(0)

    def forward(self, ids):
        rows = self.weight[ids]
        if self.padding_idx is not None and rows.requires_grad:
            words = (ids != self.padding_idx).unsqueeze(-1)
            rows.register_hook(lambda gradient: gradient * words)
        return rows

    @classmethod
    def from_pretrained(cls, table, freeze=True, padding_idx=None):
        made = cls(table.size(0), table.size(1), padding_idx=padding_idx)
        made.weight.data = table.clone()
        made.weight.requires_grad = not freeze
        return made
