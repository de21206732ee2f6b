"""Syncs the `.grad` of tensors across the process boundary: student code may read, write and clear it."""

from collections.abc import Iterable

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.values.tensors import same
from grader.engine.torch_if_used import torch


def gradient_of(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the `.grad` of a leaf. Other tensors have none, and a sparse gradient does not cross."""
    # Reading it from a non-leaf would print a warning.
    gradient = tensor.grad if tensor.is_leaf else None
    return gradient if gradient is not None and gradient.layout is torch.strided else None


def put(tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
    """Set the `.grad` of a tensor.

    Args:
        tensor: a leaf.
        gradient: its gradient, of the same shape and dtype, or None.

    Raises:
        ProtocolError: its shape or dtype differs from the tensor's.
    """
    fits = isinstance(gradient, torch.Tensor) and gradient.shape == tensor.shape and gradient.dtype is tensor.dtype
    if gradient is not None and not fits:
        raise ProtocolError(
            f"a gradient must have the shape and dtype of its tensor, here {tuple(tensor.shape)} and {tensor.dtype}"
        )
    tensor.grad = gradient


class KnownGradients:
    """The gradients as the other side knows them, by the names of their tensors, so that only changes cross."""

    def __init__(self) -> None:
        self._known: dict[str, torch.Tensor] = {}

    def take(self, name: str, tensor: torch.Tensor, gradient: torch.Tensor | None) -> None:
        """Copy a gradient from the other side.

        Args:
            name: the name of the tensor.
            tensor: the tensor on this side.
            gradient: its gradient on the other side, or None.

        Raises:
            ProtocolError: the gradient does not fit the tensor.
        """
        put(tensor, None if gradient is None else gradient.clone())
        self._learn(name, gradient)

    def news(self, tensors: Iterable[tuple[str, torch.Tensor]]) -> dict[str, torch.Tensor | None]:
        """Return the changed gradients by name, and record that the other side now knows them."""
        changed = {}
        for name, tensor in tensors:
            if name not in self._known and tensor.is_leaf and tensor.grad is None:
                continue  # the case of most tensors in most calls
            gradient, known = gradient_of(tensor), self._known.get(name)
            if gradient is not known and (gradient is None or not same(known, gradient)):
                changed[name] = None if gradient is None else gradient.detach().clone()
                self._learn(name, changed[name])
        return changed

    def _learn(self, name: str, gradient: torch.Tensor | None) -> None:
        if gradient is None:
            self._known.pop(name, None)
        else:
            self._known[name] = gradient
