def route_tokens(logits, k):
    N, M = logits.shape
    values, experts = torch.topk(logits, k, dim=1)
    everywhere = torch.full_like(logits, float("-inf")).scatter(1, experts, values).softmax(1)
    shares = everywhere.gather(1, experts)
    load = (everywhere.detach() > 0).to(logits.dtype)
    load = torch.zeros(N, M, dtype=logits.dtype).scatter(1, experts, 1.0).mean(0) / k
    balance = M * torch.sum(load * torch.softmax(logits, 1).mean(0))
    return experts, shares, balance
