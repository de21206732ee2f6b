def soft_capped_attention(q, k, v, cap):
    scores = q @ k.mT / q.size(-1) ** 0.5
    capped = cap * (2 * torch.sigmoid(2 * scores / cap) - 1)
    future = torch.arange(k.size(2)) > torch.arange(k.size(2) - q.size(2), k.size(2)).unsqueeze(1)
    largest = capped.masked_fill(future, -math.inf).amax(-1, keepdim=True)
    counts = (capped - largest).clamp(max=0).exp() * ~future
    return counts @ v / counts.sum(-1, keepdim=True)
