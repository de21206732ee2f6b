def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    if temperature == 0:
        best = logits.max(-1, keepdim=True).values
        return torch.where(logits == best, 0.0, -math.inf).to(logits.dtype).softmax(-1)
    z = logits.div(temperature)
    if top_k is not None:
        k = min(top_k, z.shape[-1])
        smallest = z.sort(-1, descending=True).values[:, k - 1]
        z = torch.where(z < smallest[:, None], -math.inf, z)
    if top_p is not None:
        ordered = z.sort(-1, descending=True).values
        reached = ordered.softmax(-1).cumsum(-1) >= top_p                    # (B, V)
        place = (~reached).sum(-1).clamp(max=z.shape[-1] - 1)                # (B,): the one that reaches p
        z = z.masked_fill(z < ordered.gather(-1, place[:, None]), -math.inf)
    return z.softmax(-1)
