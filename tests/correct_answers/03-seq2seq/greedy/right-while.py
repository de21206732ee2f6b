def greedy(step, bos, eos, max_length):
    words = []
    while len(words) < max_length and eos not in words:
        log_p = step((bos, *words)).tolist()
        words.append(log_p.index(max(log_p)))
    return (bos, *words)
