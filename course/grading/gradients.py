"""What lies in the `grad` of tensors: it travels with them, for student code may read, write and clear it."""

from collections.abc import Iterable

import torch

from course.grading.tensors import WireError, same


def gradient_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """The gradient that lies in a leaf. Others have none; a sparse one does not cross."""
    # To ask a tensor that is no leaf would print a warning.
    gradient = tensor.grad if tensor.is_leaf else None
    return gradient if gradient is not None and gradient.layout is torch.strided else None


def put(tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
    """Makes `gradient` the one that lies in `tensor`; raises WireError where it does not fit."""
    fits = isinstance(gradient, torch.Tensor) and gradient.shape == tensor.shape and gradient.dtype is tensor.dtype
    if gradient is not None and not fits:
        raise WireError(f"the gradient of a tensor has its shape and dtype; here {tuple(tensor.shape)}, {tensor.dtype}")
    tensor.grad = gradient


class Gradients:
    """What the other side knows of the gradients in tensors, by the names of these: only changes travel."""

    def __init__(self) -> None:
        self._known: dict[str, torch.Tensor] = {}

    def take(self, name: str, tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
        """Makes what lies in a tensor there, or nothing, lie in it here. Raises WireError where it does not fit."""
        put(tensor, None if gradient is None else gradient.clone())
        self._learn(name, gradient)

    def news(self, tensors: Iterable[tuple[str, torch.Tensor]]) -> dict[str, torch.Tensor | None]:
        """What the other side does not know of the tensors with these names, and knows from then on."""
        found = {}
        for name, tensor in tensors:
            if name not in self._known and tensor.is_leaf and tensor.grad is None:
                continue  # as of most tensors at every call
            gradient, known = gradient_of(tensor), self._known.get(name)
            if gradient is not known and (gradient is None or not same(known, gradient)):
                found[name] = None if gradient is None else gradient.detach().clone()
                self._learn(name, found[name])
        return found

    def _learn(self, name: str, gradient: torch.Tensor | None) -> None:
        if gradient is None:
            self._known.pop(name, None)
        else:
            self._known[name] = gradient
