"""Functions of torch that are refused to student code, where the exercise is to write what they do.

An instructor tags the answer cell: `without:conv2d`. While a test of the exercise calls student code, torch's conv2d
raises HandedOver there, under whatever name and from whatever layer it is called; tests themselves may use it.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch.overrides import TorchFunctionMode


class HandedOver(RuntimeError):
    """Student code handed the work of its exercise to torch."""


def refusing(names: Sequence[str]) -> AbstractContextManager:
    """A context in which the functions of torch that have these names raise HandedOver, in this thread."""
    return _Refusing(frozenset(names)) if names else nullcontext()


class _Refusing(TorchFunctionMode):
    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self._names = names

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        # torch.ops.aten.conv2d.default is called "conv2d.default".
        name = getattr(func, "__name__", "").split(".")[0]
        if name in self._names:
            raise HandedOver(f"torch's {name} does what this exercise is to write")
        return func(*args, **(kwargs or {}))
