def merge_pair(tokens, pair, new_id):
    result = []
    index = 0
    while index < len(tokens):
        if index + 1 < len(tokens) and tokens[index] == pair[0] and tokens[index + 1] == pair[1]:
            result.append(new_id)
            index += 2
        else:
            result.append(tokens[index])
            index += 1
    return result


def learn_merges(counts, n_merges):
    words = [(list(piece.encode()), n) for piece, n in counts.items()]
    merges = []
    for k in range(n_merges):
        table = {}
        for tokens, n in words:
            for i in range(1, len(tokens)):
                pair = (tokens[i - 1], tokens[i])
                table[pair] = table.get(pair, 0) + n
        if len(table) == 0:
            break
        best = None
        for pair in table:
            if best is None or table[pair] > table[best] or (table[pair] == table[best] and pair < best):
                best = pair
        merges.append(best)
        words = [(merge_pair(tokens, best, 256 + k), n) for tokens, n in words]
    return merges


def encode(text, merges):
    cut = [list(piece.encode()) for piece in pieces(text)]
    for k, pair in enumerate(merges):
        cut = [merge_pair(tokens, pair, 256 + k) for tokens in cut]
    return sum(cut, [])


def decode(tokens, merges):
    def spell(token):
        if token < 256:
            return [token]
        left, right = merges[token - 256]
        return spell(left) + spell(right)

    found = []
    for token in tokens:
        found += spell(token)
    return bytes(found).decode("utf-8", errors="replace")
