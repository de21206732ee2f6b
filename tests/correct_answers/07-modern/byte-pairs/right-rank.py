def merge_pair(tokens, pair, new_id):
    tokens, k = list(tokens), 0
    while k < len(tokens):
        if tuple(tokens[k:k + 2]) == tuple(pair):
            tokens[k:k + 2] = [new_id]
        k += 1
    return tokens


def learn_merges(counts, n_merges):
    merges = []
    for _ in range(n_merges):
        seen = Counter()
        for piece, n in counts.items():
            tokens = _apply_all(list(piece.encode()), merges)
            for pair in zip(tokens[:-1], tokens[1:]):
                seen[pair] += n
        if not seen:
            break
        most = max(seen.values())
        merges.append(min(pair for pair, n in seen.items() if n == most))
    return merges


def _apply_all(tokens, merges):
    """The learned pair of the lowest rank first, as long as there is one."""
    rank = {tuple(pair): k for k, pair in reversed(list(enumerate(merges)))}
    while True:
        here = {rank[pair] for pair in zip(tokens, tokens[1:]) if pair in rank}
        if not here:
            return tokens
        k = min(here)
        tokens = merge_pair(tokens, merges[k], 256 + k)


def encode(text, merges):
    return [token for piece in pieces(text) for token in _apply_all(list(piece.encode()), merges)]


def decode(tokens, merges):
    table = {byte: bytes((byte,)) for byte in range(256)}
    for k, (left, right) in enumerate(merges):
        table[256 + k] = table[left] + table[right]
    return b"".join(map(table.get, tokens)).decode(errors="replace")
