class EncoderDecoder(nn.Module):
    def __init__(self, vocab_size, embedding_dim, hidden_dim):
        super().__init__()
        self.source_embedding, self.target_embedding = (
            nn.Embedding(vocab_size, embedding_dim, padding_idx=0) for _ in range(2))
        self.encoder, self.decoder = (nn.GRU(embedding_dim, hidden_dim, 1, batch_first=True) for _ in range(2))
        self.output = nn.Linear(hidden_dim, vocab_size)

    def encode(self, source, lengths):
        cs = []
        for sentence, length in zip(source, lengths.tolist()):
            _, last = self.encoder(self.source_embedding(sentence[:length]).unsqueeze(0))
            cs.append(last[0, 0])
        return torch.stack(cs)

    def forward(self, source, lengths, target_in):
        state = self.encode(source, lengths)[None]
        logits = []
        for t in range(target_in.shape[1]):
            said, state = self.decoder(self.target_embedding(target_in[:, t:t + 1]), state)
            logits.append(self.output(said[:, 0]))
        return torch.stack(logits, dim=1)
