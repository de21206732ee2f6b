def qk_norm_attention(q, k, v, q_gain, k_gain, eps=1e-6):
    q = F.rms_norm(q, q.shape[-1:], q_gain, eps)
    k = F.rms_norm(k, k.shape[-1:], k_gain, eps)
    attended = torch.ones(q.size(2), k.size(2), dtype=torch.bool).tril(k.size(2) - q.size(2))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=attended)
