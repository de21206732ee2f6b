def teacher_forcing_pair(words):
    read, said = [], []
    for row in words.tolist():
        only = [number for number in row if number != 0]
        rest = [0] * (len(row) - len(only))
        read.append([1] + only + rest)
        said.append(only + [2] + rest)
    return [torch.tensor(read), torch.tensor(said)]
