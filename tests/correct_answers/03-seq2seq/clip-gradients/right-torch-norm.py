def clip_gradients(gradients, batch_size, max_norm=5.0):
    means = tuple(g.div(batch_size) for g in gradients)
    s = torch.cat([g.flatten() for g in means]).norm().item()
    factor = min(1.0, max_norm / s) if s else 1.0
    return [factor * g for g in means], s
