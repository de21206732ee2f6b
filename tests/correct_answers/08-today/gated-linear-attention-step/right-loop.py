def gated_linear_attention_step(q, k, v, decay, state):
    rows, out = [], 0
    for i in range(k.size(-1)):
        row = k[..., i : i + 1] * v
        if state is not None:
            row = row + decay[..., i : i + 1] * state[..., i, :]
        rows.append(row)
        out = out + q[..., i : i + 1] * row
    return out, torch.stack(rows, -2)
