class HybridStack(nn.Module):
    def __init__(self, n_layers, dim, n_heads, head_dim, every=4):
        super().__init__()
        norms, mixers = [], []
        for n in range(n_layers):
            norms.append(nn.RMSNorm(dim))
            if (n + 1) % every == 0:
                mixers.append(AttentionMixer(dim, n_heads, head_dim))
            else:
                mixers.append(StateMixer(dim, n_heads, head_dim))
        self.norms = nn.ModuleList(norms)
        self.mixers = nn.ModuleList(mixers)

    def forward(self, x):
        for n in range(len(self.mixers)):
            x = self.mixers[n](self.norms[n](x)) + x
        return x

    def step(self, x, caches):
        new = [None for _ in self.mixers] if caches is None else list(caches)
        for n in range(len(self.mixers)):
            mixed, new[n] = self.mixers[n].step(self.norms[n](x), new[n])
            x = x + mixed
        return x, new
