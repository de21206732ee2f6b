"""Measures the memory that a function takes for its tensors, in the student's notebook as when it is graded.

    function, arguments -> a call in which each operation of torch is seen -> its result, the most bytes alive at once

The memory is measured in the process that runs the student's function, which in a grader is another one.
"""

import gc
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader_kernel.measured import measured

T = TypeVar("T")

LIFT = torch.ops.aten.lift_fresh.default
"""The last operation of torch.tensor() and torch.from_numpy(); its argument was just made, unseen."""


def peak_memory(function: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[T, int]:
    """Return the result of a call, and the most bytes of tensors that were alive at once during it.

    The memory of a tensor counts from the operation that makes it until nothing refers to it any more, even if only
    autograd keeps it for the backward pass. Views share it, and it counts once. A backward pass during the call counts
    too. Tensors from before the call, such as arguments, count only as far as they grow; the result counts. The number
    is the same in every run, because Python's cycle collector is off during the call.

    Three kinds of memory are not seen: temporary memory within one operation of torch, memory of other threads, and
    numpy arrays until torch makes tensors of them. An array that numpy makes of a tensor shares its memory, and keeps
    it alive.

    Args:
        function: a student's function, module or method. A function of a test that calls the student's would be
            measured in the process of the test, which does not have the student's tensors.
        args: its arguments.
        kwargs: its keyword arguments.
    """
    return measured(peak_memory_here, function, args, kwargs)


def peak_memory_here(function: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[T, int]:
    """Measure a call as `peak_memory` does, in this process."""
    collects = gc.isenabled()
    gc.disable()
    try:
        with _Storages() as storages:
            result = function(*args, **kwargs)
    finally:
        if collects:
            gc.enable()
    return result, storages.peak


@dataclass
class _Storage:
    """The memory of a tensor: its bytes before the call, and the bytes that count."""

    reference: weakref.ref[torch.UntypedStorage]
    before: int
    counted: int = 0


class _Storages(TorchDispatchMode):
    """Counts the bytes of storages as operations of torch make, resize and release them."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        """The maximum of the bytes alive at once."""
        self._alive = 0
        self._storages: dict[int, _Storage] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        for tensor in _tensors((*args, *kwargs.values())):
            # Not made by any operation, so it existed before the call.
            self._look_at(tensor, is_new=func is LIFT)
        result = func(*args, **kwargs)
        for tensor in _tensors((result,)):
            self._look_at(tensor, is_new=True)
        self.peak = max(self.peak, self._alive)
        return result

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise the first operation imports torch's compiler, which takes two seconds.
        return False

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        # Each reference to a storage refers back to this object.
        self._storages.clear()

    def _look_at(self, tensor: torch.Tensor, *, is_new: bool) -> None:
        # A sparse tensor has none of its own.
        if not torch._C._has_storage(tensor):
            return
        storage = tensor.untyped_storage()
        address, size = storage._cdata, storage.nbytes()
        known = self._storages.get(address)
        if known is None:
            reference = weakref.ref(storage, partial(self._forget, address))
            known = self._storages[address] = _Storage(reference, before=0 if is_new else size)
        counted = max(0, size - known.before)
        self._alive += counted - known.counted
        known.counted = counted

    def _forget(self, address: int, reference: weakref.ref) -> None:
        self._alive -= self._storages.pop(address).counted


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    """Yield the tensors among the arguments or results of an operation, including those in nested lists."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)
