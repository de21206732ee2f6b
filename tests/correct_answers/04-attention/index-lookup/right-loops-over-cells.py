class IndexLookup(nn.Module):
    def __init__(self, n_symbols: int, length: int, dim: int = 32) -> None:
        super().__init__()
        self.dim = dim
        self.symbols = nn.Embedding(n_symbols, dim)
        self.index = nn.Embedding(length, dim)
        self.cell = nn.GRUCell(dim, dim)
        self.query = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, n_symbols)

    def forward(self, symbols, index):
        batch, length = symbols.shape
        state = torch.zeros(batch, self.dim)
        states = []
        for place in range(length):
            state = self.cell(self.symbols(symbols[:, place]), state)
            states.append(state)
        query = self.query(self.index(index))
        scores = torch.stack([(query * state).sum(1) for state in states], dim=1)
        att = nn.Softmax(dim=1)(scores)
        context = 0
        for place in range(length):
            context = context + att[:, place : place + 1] * states[place]
        return self.out(context), att
