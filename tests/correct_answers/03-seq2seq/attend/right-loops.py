def attend(score: torch.Tensor, h: torch.Tensor, mask: torch.Tensor | None = None):
    contexts, weights = [], []
    for b in range(score.size(0)):
        seen = [j for j in range(score.size(1)) if mask is None or mask[b, j] == 0]
        part = score[b, seen].softmax(0)
        weights.append(torch.zeros_like(score[b]).index_put((torch.tensor(seen),), part))
        contexts.append(sum(part[k] * h[b, j] for k, j in enumerate(seen)))
    return torch.stack(contexts), torch.stack(weights)
