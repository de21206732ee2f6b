def norm_of(tensors):
    return float(torch.stack([torch.linalg.vector_norm(t) for t in tensors]).norm())


def clip_gradients(gradients, batch_size, max_norm=5.0):
    s = norm_of(gradients) / batch_size
    factor = max_norm / max(s, max_norm)
    return [gradient * (factor / batch_size) for gradient in gradients], s
