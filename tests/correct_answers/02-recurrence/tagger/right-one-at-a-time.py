class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, embedding, width):
        super().__init__()
        self.n_tags = n_tags
        self.embedding = nn.Embedding(n_words, embedding, padding_idx=0)
        self.lstm = nn.LSTM(embedding, width, bidirectional=True)
        self.output = nn.Linear(width * 2, n_tags)

    def forward(self, words, lengths):
        rows = []
        for sentence, n in zip(words, lengths.tolist()):
            states, _ = self.lstm(self.embedding(sentence[:n]))        # (n, 2D), no batch
            scores = self.output(states)
            rows.append(F.pad(scores, (0, 0, 0, words.shape[1] - n)))
        return torch.stack(rows)
