def route_tokens(logits, k):
    p = logits.softmax(-1)
    order = logits.argsort(-1, descending=True)[:, :k]
    chosen = p.gather(1, order)
    shares = chosen / chosen.sum(-1, keepdim=True)
    sent = F.one_hot(order, logits.size(1)).sum((0, 1)) / order.numel()
    return order, shares, logits.size(1) * torch.dot(sent.to(p.dtype), p.mean(0))
