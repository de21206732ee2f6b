"""What lies in the `grad` of tensors: it travels with them, for student code may read, write and clear it."""

import torch

from course.grading.tensors import WireError, same


def gradient_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """The gradient that lies in a leaf. Others have none; a sparse one does not cross."""
    # To ask a tensor that is no leaf would print a warning.
    gradient = tensor.grad if tensor.is_leaf else None
    return gradient if gradient is not None and gradient.layout is torch.strided else None


class Gradients:
    """What the other side knows of the gradients in tensors, by the names of these: only changes travel."""

    def __init__(self) -> None:
        self.known: dict[str, torch.Tensor] = {}

    def learn(self, name: str, gradient: torch.Tensor | None) -> None:
        """The other side said that this lies in the tensor, or nothing."""
        if gradient is None:
            self.known.pop(name, None)
        else:
            self.known[name] = gradient

    def look(self, name: str, tensor: torch.Tensor, news: dict[str, torch.Tensor | None]) -> None:
        """Adds to `news` what the other side does not know of the tensor, and knows from then on."""
        gradient, known = gradient_of(tensor), self.known.get(name)
        if gradient is not known and (gradient is None or not same(known, gradient)):
            news[name] = None if gradient is None else gradient.detach().clone()
            self.learn(name, news[name])


def put(tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
    """Makes `gradient` the one that lies in `tensor`; raises WireError where it does not fit."""
    fits = isinstance(gradient, torch.Tensor) and gradient.shape == tensor.shape and gradient.dtype is tensor.dtype
    if gradient is not None and not fits:
        raise WireError(f"the gradient of a tensor has its shape and dtype; here {tuple(tensor.shape)}, {tensor.dtype}")
    tensor.grad = gradient
