def sequence_log_probability(step, sequence):
    return sum(step(sequence[:t])[word].item() for t, word in enumerate(sequence) if t > 0)
