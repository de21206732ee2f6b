def reverse_source(words: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    rows = []
    for row, n in zip(words.tolist(), lengths.tolist()):
        rows.append(list(reversed(row[:n])) + row[n:])
    return torch.tensor(rows, dtype=words.dtype)
