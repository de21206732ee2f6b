def reverse_source(words, lengths):
    out = words.clone()
    for b, n in enumerate(lengths.tolist()):
        out[b, :n] = words[b, :n].flip(0)
    return out
