def gated_attention(x, q, k, v, gate_weight):
    H = q.size(1)
    width = gate_weight.size(1) // H
    out = []
    for h in range(H):
        gate = torch.sigmoid(x @ gate_weight[:, h * width : (h + 1) * width])
        out.append(gate * (causal_scores(q[:, h], k[:, h]).softmax(-1) @ v[:, h]))
    return torch.stack(out, 1)
