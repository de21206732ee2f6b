class Tagger(nn.Module):
    def __init__(self, vocab_size, n_tags, embedding_dim, hidden_dim):
        super().__init__()
        self.n_tags = n_tags
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, bidirectional=True)
        self.output = nn.Linear(hidden_dim * 2, n_tags)

    def forward(self, words, lengths):
        rows = []
        for sentence, n in zip(words, lengths.tolist()):
            states, _ = self.lstm(self.embedding(sentence[:n]))        # (n, 2D), no batch
            scores = self.output(states)
            rows.append(F.pad(scores, (0, 0, 0, words.shape[1] - n)))
        return torch.stack(rows)
