def gated_linear_attention_step(q, k, v, decay, state):
    B, H, d = k.shape
    new = torch.zeros(B, H, d, v.shape[-1], dtype=v.dtype) if state is None else state.clone()
    new = new.mul_(decay[..., None])
    new.add_(k[..., None] @ v[..., None, :])
    return torch.matmul(q[:, :, None], new)[:, :, 0], new
