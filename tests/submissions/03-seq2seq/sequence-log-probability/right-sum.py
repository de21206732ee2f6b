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


def sequence_log_probability(step, sequence):
    return sum(step(sequence[:t])[word].item() for t, word in enumerate(sequence) if t > 0)
