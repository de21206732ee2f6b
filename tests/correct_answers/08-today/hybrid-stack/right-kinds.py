class HybridStack(nn.Module):
    def __init__(self, n_layers, dim, n_heads, head_dim, every=4):
        super().__init__()
        kinds = [StateMixer] * n_layers
        for n in range(every - 1, n_layers, every):
            kinds[n] = AttentionMixer
        self.mixers = nn.ModuleList([kind(dim, n_heads, head_dim) for kind in kinds])
        self.norms = nn.ModuleList([nn.RMSNorm(dim) for _ in kinds])

    def forward(self, x):
        for mixer, norm in zip(self.mixers, self.norms):
            residual = x
            x = residual + mixer(norm(residual))
        return x

    def step(self, x, caches):
        results = []
        for n, (mixer, norm) in enumerate(zip(self.mixers, self.norms)):
            before = None if caches is None else caches[n]
            out, after = mixer.step(norm(x), before)
            results.append(after)
            x = torch.add(x, out)
        return x, results
