def best_of(pairs, beam_size):
    return sorted(pairs, key=lambda pair: float(pair[1]), reverse=True)[:beam_size]


def beam_search(step, bos, eos, beam_size, max_length, alpha=0.0):
    """Recursion over the steps; the scores come back as tensors with no axis."""

    def search(beams, steps):
        if steps == 0 or not beams:
            return beams
        grown = [
            (sequence + (n,), log_p + row[n])
            for sequence, log_p in beams
            for row in [step(sequence)]
            for n in range(len(row))
            if float(row[n]) != -math.inf
        ]
        kept = best_of(grown, beam_size)
        return [p for p in kept if p[0][-1] == eos] + search([p for p in kept if p[0][-1] != eos], steps - 1)

    found = search([((bos,), torch.zeros((), dtype=torch.float64))], max_length)
    return best_of([(s, v / ((5 + len(s[1:])) / 6) ** alpha) for s, v in found], beam_size)
