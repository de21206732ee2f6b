def equivalent_weights(weights, values):
    matrix = torch.ones(values.shape[1] + 1, values.shape[0], dtype=values.dtype)
    matrix[:-1] = values.transpose(0, 1)
    d = torch.linalg.svd(matrix, full_matrices=True)[2][-1, :]
    rising = d > 0
    step = min((weights[j] / d[j]).item() for j in range(len(d)) if rising[j])
    moved = weights - step * d
    return moved.relu()
