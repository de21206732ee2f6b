def target_mask(words: torch.Tensor, padding: int = 0) -> torch.Tensor:
    square = torch.ones(words.size(1), words.size(1)).triu(diagonal=1)
    squares = square.repeat(words.size(0), 1, 1)
    return squares.masked_fill(words.eq(padding)[:, None], 1.0).bool()
