def accept_or_replace(guess, p, q, choose):
    large, small = p.tolist(), q.tolist()
    if large[guess] >= small[guess]:
        return guess
    rejected = 1 - large[guess] / small[guess]
    if choose([rejected, 1 - rejected]) == 1:
        return guess
    missing = [max(0.0, a - b) for a, b in zip(large, small)]
    total = sum(missing)
    return choose([number / total for number in missing])
