def speculative_round(large, small, words, n_guesses, choose):
    guesses, drafts = [], []
    while len(guesses) < n_guesses:
        drafts.append(small(words + guesses)[-1])
        guesses.append(choose(drafts[-1]))
    opinions = large(words + guesses)
    new = []
    for n in range(n_guesses):
        word = accept_or_replace(guesses[n], opinions[len(words) + n - 1], drafts[n], choose)
        new.append(word)
        if word != guesses[n]:
            break
    else:
        new.append(choose(opinions[-1]))
    return new
