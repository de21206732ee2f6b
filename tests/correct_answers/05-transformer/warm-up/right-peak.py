def learning_rate(step: int, width: int, warmup: int = 4000) -> float:
    peak = (width * warmup) ** -0.5
    return peak * min(step / warmup, (warmup / step) ** 0.5)
