class HybridStack(nn.Module):
    def __init__(self, n_layers, dim, n_heads, head_dim, every=4):
        super().__init__()
        self.norms, self.mixers = nn.ModuleList(), nn.ModuleList()
        for n in range(1, n_layers + 1):
            self.norms.append(nn.RMSNorm(dim))
            self.mixers.append((AttentionMixer, StateMixer)[n % every != 0](dim, n_heads, head_dim))

    def forward(self, x, n=0):
        if n == len(self.mixers):
            return x
        return self.forward(x + self.mixers[n](self.norms[n](x)), n + 1)

    def step(self, x, caches, n=0):
        if n == len(self.mixers):
            return x, []
        out, kept = self.mixers[n].step(self.norms[n](x), caches[n] if caches else None)
        x, rest = self.step(x + out, caches, n + 1)
        return x, [kept] + rest
