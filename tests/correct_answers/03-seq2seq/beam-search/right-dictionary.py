def beam_search(
    step, bos: int, eos: int, beam_size: int, max_length: int, alpha: float = 0.0
) -> list[tuple[tuple[int, ...], float]]:
    """Dictionaries from sequence to log-probability, and a helper that prunes each parent first."""

    def grow(beams):
        for sequence, log_p in beams.items():
            row = step(sequence)
            order = row.argsort(descending=True)[:beam_size]      # no parent can give more than beam_size
            yield from ((sequence + (int(n),), log_p + float(row[n])) for n in order if row[n] > -float("inf"))

    beams, result = {(bos,): 0.0}, {}
    for _ in range(max_length):
        best = dict(sorted(grow(beams), key=lambda item: item[1])[::-1][:beam_size])
        result.update({s: v for s, v in best.items() if s[-1] == eos})
        beams = {s: v for s, v in best.items() if s[-1] != eos}
    result.update(beams)
    ranked = [(v / ((5 + len(s) - 1) / (5 + 1)) ** alpha, s) for s, v in result.items()]
    return [(s, v) for v, s in sorted(ranked, reverse=True)][:beam_size]
