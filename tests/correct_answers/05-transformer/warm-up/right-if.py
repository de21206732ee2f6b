def learning_rate(step, dim, warmup=4000):
    if step < warmup:
        factor = step / (warmup * math.sqrt(warmup))
    else:
        factor = 1 / math.sqrt(step)
    return factor / math.sqrt(dim)
