def speculative_step(target, draft, tokens, n_draft, choose):
    draft_tokens, draft_probs = [], []
    while len(draft_tokens) < n_draft:
        draft_probs.append(draft(tokens + draft_tokens)[-1])
        draft_tokens.append(choose(draft_probs[-1]))
    judged = target(tokens + draft_tokens)
    new = []
    for n in range(n_draft):
        token = accept_or_resample(draft_tokens[n], judged[len(tokens) + n - 1], draft_probs[n], choose)
        new.append(token)
        if token != draft_tokens[n]:
            break
    else:
        new.append(choose(judged[-1]))
    return new
