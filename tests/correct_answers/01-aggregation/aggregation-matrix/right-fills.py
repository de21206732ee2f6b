def matrix_of(layer, n):
    bias = layer(torch.zeros(n))
    matrix = torch.zeros(len(bias), n)
    for j in range(n):
        poke = torch.zeros(n)
        poke[j] = 1
        matrix[:, j] = layer(poke) - bias
    return matrix
