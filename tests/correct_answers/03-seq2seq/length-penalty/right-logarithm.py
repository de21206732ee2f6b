def length_penalised(log_p: float, sequence: tuple[int, ...], alpha: float) -> float:
    return log_p * math.exp(-alpha * (math.log(4 + len(sequence)) - math.log(6)))
