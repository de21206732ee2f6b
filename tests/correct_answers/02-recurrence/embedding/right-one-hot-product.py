class Embedding(nn.Module):
    def __init__(self, vocab_size, dim, padding_idx=None):
        super().__init__()
        self._n = vocab_size
        self._padding = -1 if padding_idx is None else padding_idx
        start = torch.normal(0.0, 1.0, (vocab_size, dim))
        start = torch.stack([row * 0 if i == self._padding else row for i, row in enumerate(start)])
        self.weight = torch.nn.Parameter(start)

    def _table(self):
        return torch.stack([row.detach() if i == self._padding else row for i, row in enumerate(self.weight)])

    def forward(self, ids):
        hot = F.one_hot(ids, self._n).to(self.weight.dtype)
        return torch.einsum("...v,ve->...e", hot, self._table())

    @staticmethod
    def from_pretrained(table, freeze=True, padding_idx=None):
        layer = Embedding(*table.size(), padding_idx)
        layer.load_state_dict({"weight": table})
        for parameter in layer.parameters():
            parameter.requires_grad_(not freeze)
        return layer
