def last_states(h_n):
    by_layer = h_n.view(h_n.shape[0] // 2, 2, *h_n.shape[1:])
    forward, backward = by_layer[-1].unbind(0)
    return torch.hstack((forward, backward))
