def beam_search(step, bos, eos, beam_size, max_length, alpha=0.0):
    """Tensors and topk over all candidates at once; lists come back."""
    beams, scores = [[bos]], torch.zeros(1, dtype=torch.float64)
    finished = []
    for _ in range(max_length):
        if not beams:
            break
        log_p = torch.stack([step(tuple(beam)).double() for beam in beams])      # (K, V)
        total = scores.unsqueeze(1) + log_p                                      # (K, V)
        best, place = total.flatten().topk(min(beam_size, total.numel()))
        next_beams, next_scores = [], []
        for value, where in zip(best.tolist(), place.tolist()):
            if math.isinf(value):
                continue
            beam, word = divmod(where, log_p.size(1))
            grown = beams[beam] + [word]
            if word == eos:
                finished.append([grown, value])
            else:
                next_beams.append(grown)
                next_scores.append(value)
        beams, scores = next_beams, torch.tensor(next_scores, dtype=torch.float64)
    finished += [[beam, value] for beam, value in zip(beams, scores.tolist())]
    for pair in finished:
        pair[1] /= ((5 + len(pair[0]) - 1) / 6) ** alpha
    finished.sort(key=lambda pair: -pair[1])
    return finished[:beam_size]
