class Embedding(nn.Module):
    def __init__(self, vocab_size: int, dim: int, padding_idx: int | None = None, table: torch.Tensor | None = None) -> None:
        super().__init__()
        self.padding_idx = padding_idx
        if table is None:
            table = torch.randn(vocab_size, dim)
            if padding_idx is not None:
                table[padding_idx] = 0
        self.weight = nn.Parameter(table)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return F.embedding(ids, self.weight, self.padding_idx)

    @classmethod
    def from_pretrained(cls, table: torch.Tensor, freeze: bool = True, padding_idx: int | None = None) -> "Embedding":
        layer = cls(table.shape[0], table.shape[1], padding_idx, table)
        layer.weight.requires_grad = not freeze
        return layer
