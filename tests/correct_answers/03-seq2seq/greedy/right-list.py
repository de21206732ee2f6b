def greedy(step, bos: int, eos: int, max_length: int):
    """A list comes back instead of a tuple."""
    sequence = [bos]
    for _ in range(max_length):
        value, number = step(tuple(sequence)).topk(1)
        sequence.append(number.item())
        if sequence[-1] == eos:
            return sequence
    return sequence
