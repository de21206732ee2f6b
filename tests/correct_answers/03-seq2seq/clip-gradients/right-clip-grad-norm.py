def clip_gradients(gradients: list[torch.Tensor], batch_size: int, max_norm: float = 5.0):
    holders = []
    for gradient in gradients:
        holder = nn.Parameter(torch.zeros_like(gradient))
        holder.grad = gradient.clone() / batch_size
        holders.append(holder)
    s = nn.utils.clip_grad_norm_(holders, max_norm)
    return [holder.grad for holder in holders], s
