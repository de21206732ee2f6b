class IndexLookup(nn.Module):
    """Bidirectional LSTM; the index is embedded as wide as a state, the scores are divided by the root of the width."""

    def __init__(self, n_symbols: int, length: int, dim: int = 32, dropout: float = 0.05) -> None:
        super().__init__()
        self.embed = nn.Embedding(n_symbols, dim)
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.LSTM(dim, dim, bidirectional=True)
        self.ask = nn.Embedding(length, 2 * dim)
        self.answer = nn.Linear(2 * dim, n_symbols)
        self.scale = (2 * dim) ** 0.5

    def forward(self, symbols: torch.Tensor, index: torch.Tensor):
        x = self.drop(self.embed(symbols)).transpose(0, 1)  # (L, B, E)
        states, _ = self.encoder(x)  # (L, B, 2D)
        scores = torch.einsum("bd,lbd->bl", self.ask(index) / self.scale, states)
        att = scores.softmax(dim=1)
        return self.answer(torch.einsum("bl,lbd->bd", att, states)), att
