"""Counts what a function hands back of its arguments, in the student's notebook as when it is graded.

    function, arguments -> a call -> its result, the number of lists, dicts and tensors in it that belong to an argument

"Returns a new list" cannot be tested with `is` in a grader, where student code runs in another process and everything
crosses as a copy. `aliases` counts in the process that runs the student's code.
"""

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from grader_kernel.measured import measured

if TYPE_CHECKING:
    import torch

T = TypeVar("T")


def aliases(function: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[T, int]:
    """Return the result of a call, and how many lists, dicts and tensors in it belong to its arguments.

    A list or dict belongs to the arguments if it is one of theirs, and a tensor if it has memory in common with one of
    theirs, as a view has. Parts of lists, tuples and dicts count too; what occurs twice counts once.

    Args:
        function: a student's function, module or method.
        args: its arguments.
        kwargs: its keyword arguments.
    """
    return measured(aliases_here, function, args, kwargs)


def aliases_here(function: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[T, int]:
    """Count as `aliases` does, in this process."""
    given = list(_parts((args, kwargs)))  # alive during the call, so that no other object gets the identity of one
    known = {_identity(part) for part in given} - {None}
    result = function(*args, **kwargs)
    return result, sum(_identity(part) in known for part in _parts(result))


def _parts(value: Any) -> Iterator[Any]:
    """Yield the lists, dicts and tensors in a value, itself included, each object once."""
    seen, waiting = set[int](), [value]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or not (isinstance(part, list | tuple | dict) or _is_tensor(part)):
            continue
        seen.add(id(part))
        if not isinstance(part, tuple):
            yield part
        if not _is_tensor(part):
            waiting.extend(part.values() if isinstance(part, dict) else part)


def _is_tensor(part: object) -> "TypeGuard[torch.Tensor]":
    """Return whether a value is a tensor. A program that has not loaded torch has none."""
    return "torch" in sys.modules and isinstance(part, sys.modules["torch"].Tensor)


def _identity(part: "list | dict | torch.Tensor") -> tuple[str, int] | None:
    """Return what a part has in common with its aliases; None for a tensor without memory."""
    if not _is_tensor(part):
        return "container", id(part)
    if not sys.modules["torch"]._C._has_storage(part) or not part.untyped_storage().nbytes():
        return None
    return "tensor", part.untyped_storage().data_ptr()
