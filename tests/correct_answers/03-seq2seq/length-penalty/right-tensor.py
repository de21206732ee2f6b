def length_penalty(n, alpha):
    return torch.tensor((5.0 + n) / 6.0, dtype=torch.float64).pow(alpha)


def length_penalised(log_p, sequence, alpha):
    """A tensor with no axis comes back."""
    return torch.tensor(log_p, dtype=torch.float64) / length_penalty(len(sequence) - 1, alpha)
