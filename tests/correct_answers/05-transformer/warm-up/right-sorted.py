def learning_rate(step, dim, warmup=4000):
    smaller, _ = sorted([pow(step, -0.5), step * pow(warmup, -1.5)])
    return pow(dim, -0.5) * smaller
