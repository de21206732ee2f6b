def clip_gradients(gradients, batch_size, max_norm=5.0):
    squares = torch.zeros(())
    for gradient in gradients:
        squares = squares + torch.sum(torch.square(gradient / batch_size))
    s = squares.sqrt()
    clipped = []
    for gradient in gradients:
        one = gradient / batch_size
        if s > max_norm:
            one = one * max_norm / s
        clipped.append(one)
    return clipped, s
