def speculative_step(target, draft, tokens, n_draft, choose):
    def draft_on(text, left):
        if left == 0:
            return []
        q = draft(text)[-1]
        draft_token = choose(q)
        return [(draft_token, q)] + draft_on(text + [draft_token], left - 1)

    pairs = draft_on(list(tokens), n_draft)
    p = target(list(tokens) + [draft_token for draft_token, _ in pairs])

    def judge(n):
        row = p[len(tokens) - 1 + n]
        if n == len(pairs):
            return [choose(row)]
        token = accept_or_resample(pairs[n][0], row, pairs[n][1], choose)
        return [token] + judge(n + 1) if token == pairs[n][0] else [token]

    return judge(0)
