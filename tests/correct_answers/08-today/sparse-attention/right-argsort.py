def lightning_index(q_index, k_index, head_weights):
    votes = torch.relu(torch.matmul(q_index, k_index.transpose(1, 2).unsqueeze(1)))
    return torch.sum(votes * head_weights[..., None], dim=1)


def sparse_attention(q, k, v, index, n):
    S, T = k.size(1), q.size(2)
    position = torch.arange(S - T, S)[:, None]
    scores = index.clone()
    scores[:, torch.arange(S)[None] > position] = -math.inf
    chosen = scores.argsort(-1, descending=True)[..., :n]
    batch = torch.arange(k.size(0))[:, None, None]
    logits = (q.permute(0, 2, 1, 3) @ k[batch, chosen].mT) / q.size(-1) ** 0.5
    logits = logits.masked_fill((chosen > position)[:, :, None], -math.inf)
    return (logits.softmax(-1) @ v[batch, chosen]).permute(0, 2, 1, 3)
