import heapq


class Beam:
    def __init__(self, words, log_p):
        self.words, self.log_p = words, log_p

    def children(self, step):
        for word, more in enumerate(step(self.words)):
            if torch.isfinite(more):
                yield Beam(self.words + (word,), self.log_p + more.item())

    def score(self, alpha):
        return self.log_p / ((4 + len(self.words)) / 6) ** alpha


def beam_search(step, bos, eos, beam_size, max_length, alpha=0.0):
    running, complete = [Beam((bos,), 0.0)], []
    length = 0
    while running and length < max_length:
        pool = [child for beam in running for child in beam.children(step)]
        running = []
        for beam in heapq.nlargest(beam_size, pool, key=lambda beam: beam.log_p):
            (complete if beam.words[-1] == eos else running).append(beam)
        length += 1
    best = heapq.nlargest(beam_size, complete + running, key=lambda beam: beam.score(alpha))
    return [(beam.words, beam.score(alpha)) for beam in best]
