def speculative_round(large, small, words, n_guesses, choose):
    def guess_on(text, left):
        if left == 0:
            return []
        q = small(text)[-1]
        guess = choose(q)
        return [(guess, q)] + guess_on(text + [guess], left - 1)

    drafts = guess_on(list(words), n_guesses)
    p = large(list(words) + [guess for guess, _ in drafts])

    def judge(n):
        row = p[len(words) - 1 + n]
        if n == len(drafts):
            return [choose(row)]
        word = accept_or_replace(drafts[n][0], row, drafts[n][1], choose)
        return [word] + judge(n + 1) if word == drafts[n][0] else [word]

    return judge(0)
