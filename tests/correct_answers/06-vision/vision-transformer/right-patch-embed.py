class VisionTransformer(nn.Module):
    def __init__(self, size, patch, channels, dim, n_heads, n_layers, n_classes):
        super().__init__()
        self.kernel = (dim, channels, patch, patch)
        self.embedding = nn.Linear(channels * patch * patch, dim)
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.position = nn.Parameter(torch.empty(1, 1 + (size // patch) ** 2, dim))
        nn.init.normal_(self.position, std=0.02)
        self.blocks = nn.ModuleList([
            nn.TransformerEncoderLayer(dim, n_heads, 4 * dim, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(n_layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, x):
        words = patch_embed(x, self.embedding.weight.view(self.kernel), self.embedding.bias)
        first = (self.class_token + self.position[:, :1]).expand(x.shape[0], 1, words.shape[2])
        words = torch.cat([first, words + self.position[:, 1:]], 1)
        for block in self.blocks:
            words = block(words)
        return self.head(self.norm(words)[:, 0, :])
