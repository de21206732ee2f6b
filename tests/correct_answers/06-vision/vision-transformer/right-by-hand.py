class VisionTransformer(nn.Module):
    def __init__(self, size, patch, channels, dim, n_heads, n_layers, n_classes):
        super().__init__()
        self.patch, self.n_heads = patch, n_heads
        self.embedding = nn.Linear(channels * patch * patch, dim)
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.position = nn.Parameter(torch.randn(1, 1 + (size // patch) ** 2, dim) / 50)
        make = lambda: nn.TransformerEncoderLayer(dim, n_heads, 4 * dim, dropout=0.0, activation="gelu",
                                                  batch_first=True, norm_first=True)
        self.blocks = nn.ModuleList(make() for _ in range(n_layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def run(self, block, x):
        y = block.norm1(x)
        x = x + block.self_attn(y, y, y, need_weights=False)[0]
        return x + block.linear2(F.gelu(block.linear1(block.norm2(x))))

    def forward(self, x):
        P = self.patch
        kernel = self.embedding.weight.reshape(-1, x.size(1), P, P)
        words = F.conv2d(x, kernel, self.embedding.bias, stride=P).flatten(2).mT
        tokens = torch.stack([torch.cat([self.class_token[0], w]) for w in words]) + self.position
        for block in self.blocks:
            tokens = self.run(block, tokens)
        return F.linear(self.norm(tokens[:, 0]), self.head.weight, self.head.bias)
