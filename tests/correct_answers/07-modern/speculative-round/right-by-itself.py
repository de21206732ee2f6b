def speculative_round(large, small, words, n_guesses, choose):
    text, qs = words.copy(), torch.empty(0)
    for _ in range(n_guesses):
        q = small(text)[-1:]
        qs = q if len(qs) == 0 else torch.cat([qs, q])
        text = [*text, int(choose(q[0]))]
    ps = large(text)[-n_guesses - 1 :]
    new = text[len(words) :]
    for n, guess in enumerate(new):
        ratio = min(1.0, (ps[n, guess] / qs[n, guess]).item())
        if choose([ratio, 1 - ratio]) == 1:
            missing = (ps[n] - qs[n]).clamp(min=0)
            return new[:n] + [int(choose(missing / missing.sum()))]
    return new + [int(choose(ps[n_guesses]))]
