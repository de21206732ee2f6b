def sequence_log_probability(step, sequence: tuple[int, ...]):
    """A tensor with no axis comes back."""
    total = torch.zeros((), dtype=torch.float64)
    beginning = list(sequence[:1])
    for word in sequence[1:]:
        total = total + step(tuple(beginning))[word].double()
        beginning.append(word)
    return total
