def soft_capped_attention(q, k, v, cap):
    T, S, d = q.size(2), k.size(2), q.size(3)
    rows = []
    for t in range(T):
        n = S - T + t + 1
        scores = (q[:, :, t : t + 1] @ k[:, :, :n].transpose(-1, -2)) * d**-0.5
        rows.append(torch.softmax(torch.tanh(scores / cap) * cap, -1) @ v[:, :, :n])
    return torch.cat(rows, 2)
