def hides(sentence, padding):
    return causal_mask(len(sentence)).logical_or(sentence == padding)


def target_mask(words: torch.Tensor, padding: int = 0) -> torch.Tensor:
    return torch.stack([hides(sentence, padding) for sentence in words])
