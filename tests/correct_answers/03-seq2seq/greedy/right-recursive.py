def _next(step, sequence):
    probabilities = step(sequence).softmax(-1)
    return torch.argsort(probabilities, descending=True)[0].item()


def greedy(step, bos: int, eos: int, max_length: int, so_far=None) -> tuple[int, ...]:
    so_far = so_far or (bos,)
    if max_length == 0:
        return so_far
    number = _next(step, so_far)
    if number == eos:
        return so_far + (eos,)
    return greedy(step, bos, eos, max_length - 1, so_far + (number,))
