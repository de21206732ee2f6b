def compressed_attention(q, k, v, block, window):
    S, T = k.size(2), q.size(2)
    outputs = []
    for t in range(T):
        position = S - T + t
        first = max(position - window + 1, 0)
        first -= first % block
        old_k = k[:, :, :first].reshape(*k.shape[:2], first // block, block, k.size(3)).mean(-2)
        old_v = v[:, :, :first].reshape(*v.shape[:2], first // block, block, v.size(3)).mean(-2)
        near = slice(first, position + 1)
        query = q[:, :, t]
        scores = torch.cat(
            [torch.einsum("bhd,bhnd->bhn", query, old_k), torch.einsum("bhd,bhnd->bhn", query, k[:, :, near])], -1
        )
        weights = (scores / q.size(-1) ** 0.5).softmax(-1)
        n = old_k.size(2)
        outputs.append(
            torch.einsum("bhn,bhne->bhe", weights[..., :n], old_v)
            + torch.einsum("bhn,bhne->bhe", weights[..., n:], v[:, :, near])
        )
    return torch.stack(outputs, 2)
