def lengths_of(words):
    return words.ne(PADDING).sum(dim=-1)


def teacher_forcing_pair(words):
    B, T = words.shape
    target_in = words.new_zeros(B, T + 1)
    target_in[:, 0] = BOS
    target_in[:, 1:] = words
    target_out = words.new_zeros(B, T + 1)
    target_out[:, :T] += words
    target_out[torch.arange(B), lengths_of(words)] = EOS
    return target_in, target_out
