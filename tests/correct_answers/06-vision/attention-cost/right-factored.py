def attention_cost(height: int, width: int, n_channels: int, n_slots: int) -> tuple[int, int]:
    both = 2 * height * width * n_channels
    return both * (2 * n_channels + height * width), both * (n_channels + n_slots)
