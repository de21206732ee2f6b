def bucket_batches(lengths, batch_size, seed):
    chance = random.Random(seed)
    order = list(range(len(lengths)))
    chance.shuffle(order)
    order.sort(key=lambda i: int(lengths[i]))
    first = len(order) % batch_size
    cuts = ([0] if first else []) + list(range(first, len(order) + 1, batch_size))
    batches = [tuple(order[a:b]) for a, b in zip(cuts, cuts[1:])]
    chance.shuffle(batches)
    return tuple(batches)
