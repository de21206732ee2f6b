def sequence_loss(logits: torch.Tensor, target_out: torch.Tensor, per: str = "token") -> torch.Tensor:
    costs = []
    for b in range(logits.shape[0]):
        for t in range(logits.shape[1]):
            word = int(target_out[b, t])
            if word != PADDING:
                score = logits[b, t] - logits[b, t].max().detach()
                costs.append(score.exp().sum().log() - score[word])
    count = len(costs) if per == "token" else logits.shape[0]
    return torch.stack(costs).sum() / count
