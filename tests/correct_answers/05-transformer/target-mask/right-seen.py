def target_mask(words: torch.Tensor, padding: int = 0) -> torch.Tensor:
    may_be_seen = ~causal_mask(words.shape[1])[None] & (words != padding)[:, None, :]
    return ~may_be_seen
