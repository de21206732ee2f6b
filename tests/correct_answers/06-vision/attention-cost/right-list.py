def attention_cost(height: int, width: int, n_channels: int, n_slots: int) -> tuple[int, int]:
    cost = [0, 0]
    for _ in range(height * width):
        cost[0] += 4 * n_channels**2 + 2 * height * width * n_channels
    for _ in range(height):
        cost[1] += width * (2 * n_channels**2 + 2 * n_slots * n_channels)
    return cost
