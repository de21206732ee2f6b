"""Forbids student code the torch functions whose work is the exercise.

An instructor tags the answer cell: `without:conv2d`. While a test of the exercise calls student code, torch's conv2d
raises ForbiddenFunction there, under whatever name and from whatever layer it is called. Tests themselves may use it.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch.overrides import TorchFunctionMode

from grader.rpc.exceptions import ForbiddenFunction


def forbidding(names: Sequence[str]) -> AbstractContextManager:
    """Return a context in which torch functions with these names raise ForbiddenFunction, in this thread."""
    return _Forbidding(frozenset(names)) if names else nullcontext()


class _Forbidding(TorchFunctionMode):
    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self._names = names

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        # torch.ops.aten.conv2d.default is called "conv2d.default".
        name = getattr(func, "__name__", "").split(".")[0]
        if name in self._names:
            raise ForbiddenFunction(f"torch's {name} does the work of this exercise")
        return func(*args, **(kwargs or {}))
