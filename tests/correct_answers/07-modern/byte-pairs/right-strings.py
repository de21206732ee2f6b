def merge_pair(tokens, pair, new_id):
    return list(map(ord, "".join(map(chr, tokens)).replace(chr(pair[0]) + chr(pair[1]), chr(new_id))))


def learn_merges(counts, n_merges):
    texts = {piece: "".join(chr(byte) for byte in piece.encode("utf-8")) for piece in counts}
    merges = []
    while len(merges) < n_merges:
        seen = {}
        for piece, text in texts.items():
            for k in range(len(text) - 1):
                seen[text[k:k + 2]] = seen.get(text[k:k + 2], 0) + counts[piece]
        if not seen:
            return merges
        best = sorted(seen, key=lambda pair: (-seen[pair], pair))[0]
        new = chr(256 + len(merges))
        merges.append((ord(best[0]), ord(best[1])))
        texts = {piece: text.replace(best, new) for piece, text in texts.items()}
    return merges


def encode(text, merges):
    ids = []
    for piece in pieces(text):
        word = "".join(map(chr, piece.encode()))
        for k, (left, right) in enumerate(merges):
            word = word.replace(chr(left) + chr(right), chr(256 + k))
        ids.extend(map(ord, word))
    return ids


def decode(tokens, merges):
    word = "".join(map(chr, tokens))
    for k in range(len(merges) - 1, -1, -1):
        word = word.replace(chr(256 + k), chr(merges[k][0]) + chr(merges[k][1]))
    return bytes(map(ord, word)).decode("utf-8", "replace")
