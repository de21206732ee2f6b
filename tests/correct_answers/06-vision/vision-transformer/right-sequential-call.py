class VisionTransformer(nn.Module):
    def __init__(self, size, patch, channels, dim, n_heads, n_layers, n_classes):
        super().__init__()
        self.size_of_patch = patch
        n_patches = (size // patch) * (size // patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.position = nn.Parameter(torch.empty(1, n_patches + 1, dim).normal_(0, 0.02))
        self.embedding = nn.Linear(channels * patch ** 2, dim)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(nn.TransformerEncoderLayer(
                d_model=dim, nhead=n_heads, dim_feedforward=4 * dim, dropout=0.0, activation=F.gelu,
                batch_first=True, norm_first=True))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, x):
        x = self.embedding(patchify(x, self.size_of_patch))
        x = torch.cat((self.class_token.repeat(x.size(0), 1, 1), x), dim=1)
        x = x + self.position
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return self.head(x[:, 0])
