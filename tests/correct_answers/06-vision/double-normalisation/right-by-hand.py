def log_of_sum(values, dim):
    top = values.max(dim=dim, keepdim=True).values
    return top + (values - top).exp().sum(dim=dim, keepdim=True).log()


def double_normalisation(score: torch.Tensor) -> torch.Tensor:
    first = score - log_of_sum(score, score.dim() - 2)
    return (first - log_of_sum(first, score.dim() - 1)).exp()
