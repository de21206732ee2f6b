from typing import Optional


def add_mask(x: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
    if mask is None:
        return x
    while mask.dim() < x.dim():
        mask = mask.unsqueeze(1)
    return torch.where(mask.bool(), torch.tensor(float("-inf"), dtype=x.dtype), x)
