def bucket_batches(lengths: torch.Tensor, batch_size: int, seed: int) -> list[list[int]]:
    numbers = lengths.tolist()
    order = sorted(range(len(numbers)), key=lambda index: numbers[index])
    batches, batch = [], []
    for index in order:
        batch.append(index)
        if len(batch) == batch_size:
            batches.append(batch)
            batch = []
    if batch:
        batches.append(batch)
    return random.Random(seed).sample(batches, len(batches))
