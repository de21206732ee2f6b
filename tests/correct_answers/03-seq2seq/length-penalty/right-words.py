def length_penalised(log_p, sequence, alpha):
    n_words = len(sequence[1:])
    lp = (5 + n_words) ** alpha / (5 + 1) ** alpha
    return log_p / lp
