def greedy_decode(model, source, max_length, bos=1, eos=2, padding=0):
    B = source.shape[0]
    target = torch.full((B, max_length + 1), padding, dtype=torch.int64)
    target[:, 0] = bos
    alive = torch.arange(B)
    step = 0
    while step < max_length and len(alive):
        with torch.no_grad():
            logits = model(source[alive], target[alive, : step + 1])
        best = logits[:, -1, :].max(dim=-1).indices
        step += 1
        target[alive, step] = best
        alive = alive[best != eos]
    return target[:, 1 : step + 1]
