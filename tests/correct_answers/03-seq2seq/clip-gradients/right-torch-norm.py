def clip_gradients(gradients, batch_size, limit=5.0):
    means = tuple(g.div(batch_size) for g in gradients)
    s = torch.cat([g.flatten() for g in means]).norm().item()
    factor = min(1.0, limit / s) if s else 1.0
    return [factor * g for g in means], s
