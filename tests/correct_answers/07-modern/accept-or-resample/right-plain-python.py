def accept_or_resample(draft_token, p, q, choose):
    target_p, draft_q = p.tolist(), q.tolist()
    if target_p[draft_token] >= draft_q[draft_token]:
        return draft_token
    rejected = 1 - target_p[draft_token] / draft_q[draft_token]
    if choose([rejected, 1 - rejected]) == 1:
        return draft_token
    missing = [max(0.0, a - b) for a, b in zip(target_p, draft_q)]
    total = sum(missing)
    return choose([number / total for number in missing])
