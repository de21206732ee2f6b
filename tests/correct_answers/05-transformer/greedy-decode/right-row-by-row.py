def greedy_decode(model, source, max_length, bos=1, eos=2, padding=0):
    rows = []
    for one in source:
        words = [bos]
        while len(words) - 1 < max_length:
            logits = model(one.unsqueeze(0), torch.tensor([words]))
            words.append(int(logits[0, -1].argmax()))
            if words[-1] == eos:
                break
        rows.append(words[1:])
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [padding] * (longest - len(row)) for row in rows])
