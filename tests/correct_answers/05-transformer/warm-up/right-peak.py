def learning_rate(step: int, dim: int, warmup: int = 4000) -> float:
    peak = (dim * warmup) ** -0.5
    return peak * min(step / warmup, (warmup / step) ** 0.5)
