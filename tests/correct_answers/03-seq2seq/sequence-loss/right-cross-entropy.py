def sequence_loss(logits, target_out, per="token"):
    total = F.cross_entropy(logits.transpose(1, 2), target_out, ignore_index=0, reduction="sum")
    if per == "sentence":
        return total / logits.size(0)
    return total / (target_out != 0).sum()
