def last_word(step, sequence):
    *beginning, word = sequence
    return float(step(tuple(beginning)).gather(0, torch.tensor([word])))


def sequence_log_probability(step, sequence: tuple[int, ...]) -> float:
    total = 0
    while len(sequence) > 1:
        more = last_word(step, sequence)
        if more == -math.inf:
            return -math.inf
        total += more
        sequence = sequence[:-1]
    return total
