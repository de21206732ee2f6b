def gated_attention(x, q, k, v, gate_weight):
    B, H, T, _ = q.shape
    context = torch.softmax(causal_scores(q, k), dim=-1) @ v
    gate = torch.nn.functional.sigmoid(torch.matmul(x, gate_weight))
    if gate_weight.shape[1] == H:
        return context * gate.permute(0, 2, 1).unsqueeze(-1)
    merged = context.transpose(1, 2).reshape(B, T, -1) * gate
    return merged.reshape(B, T, H, v.size(-1)).transpose(1, 2)
