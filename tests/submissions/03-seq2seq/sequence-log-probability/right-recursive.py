def table_model(table):
    """
    Given. The model that finds its probabilities in a table: by the whole sequence, or else by its last word.
    What follows a sequence that is not in the table, nobody knows: all numbers are equally probable.
    """
    rows = {key: torch.tensor(row, dtype=torch.float64).log() for key, row in table.items()}
    first = next(iter(rows.values()))
    unknown = torch.full_like(first, -math.log(len(first)))

    def step(sequence):
        sequence = tuple(int(number) for number in sequence)
        return rows.get(sequence, rows.get(sequence[-1:], unknown)).clone()      # (V,)

    return step


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
