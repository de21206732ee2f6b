def speculative_step(target, draft, tokens, n_draft, choose):
    text, qs = tokens.copy(), torch.empty(0)
    for _ in range(n_draft):
        q = draft(text)[-1:]
        qs = q if len(qs) == 0 else torch.cat([qs, q])
        text = [*text, int(choose(q[0]))]
    ps = target(text)[-n_draft - 1 :]
    new = text[len(tokens) :]
    for n, draft_token in enumerate(new):
        ratio = min(1.0, (ps[n, draft_token] / qs[n, draft_token]).item())
        if choose([ratio, 1 - ratio]) == 1:
            missing = (ps[n] - qs[n]).clamp(min=0)
            return new[:n] + [int(choose(missing / missing.sum()))]
    return new + [int(choose(ps[n_draft]))]
