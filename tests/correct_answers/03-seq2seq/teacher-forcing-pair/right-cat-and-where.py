def teacher_forcing_pair(words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    B, T = words.shape
    bos = torch.ones(B, 1, dtype=words.dtype)
    nothing = torch.zeros(B, 1, dtype=words.dtype)
    target_in = torch.cat([bos, words], dim=1)
    place = torch.arange(T + 1)
    n = torch.count_nonzero(words, dim=1)[:, None]
    longer = torch.cat([words, nothing], dim=1)
    target_out = torch.where(place == n, torch.full_like(longer, 2), longer)
    return target_in, target_out
