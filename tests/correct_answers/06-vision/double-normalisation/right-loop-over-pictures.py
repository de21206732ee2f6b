def double_normalisation(score: torch.Tensor) -> torch.Tensor:
    *front, n_positions, n_slots = score.shape
    done = []
    for picture in score.reshape(-1, n_positions, n_slots):
        columns = [picture[:, j] - picture[:, j].logsumexp(0) for j in range(n_slots)]
        done.append(torch.stack(columns, dim=1).softmax(1))
    return torch.stack(done).reshape(*front, n_positions, n_slots)
