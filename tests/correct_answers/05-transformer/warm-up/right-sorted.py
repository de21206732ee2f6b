def learning_rate(step, width, warmup=4000):
    smaller, _ = sorted([pow(step, -0.5), step * pow(warmup, -1.5)])
    return pow(width, -0.5) * smaller
