"""Hands objects of a test to student code: a model, an optimiser with its scheduler, a file in memory, a table.

    objects of the test --pickle--> LibraryObject: bytes; tensors by number, objects of the student's by handle

copied_objects.py makes the copies in the sandbox. Only the runner pickles, and it is trusted; what the sandbox sends is
never unpickled. The objects of a call are copied together, so that a scheduler has the optimiser beside it. Models,
functions and data sets that the test itself defines are copied with their code (definitions.py).
"""

import io
import pickle
import sys
from collections.abc import Callable
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import msgspec
import numpy

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects import definitions
from grader.engine.rpc.objects.handles import Handle, LibraryObject
from grader.engine.rpc.values.trees import Place
from grader.engine.torch_if_used import nn, torch

LIBRARIES = sys.stdlib_module_names | {"torch", "numpy", "scipy"}
"""Packages whose functions and classes student code gets by name. Those of others are called back, as a test's are."""


def crosses(item: Any) -> bool:
    """Return whether an object may be copied or, if it is a function or class of a library, named.

    What only the process of the test can call does not, and of what a test defines, only what torch has to do with.
    """
    if isinstance(item, BuiltinFunctionType) and not isinstance(item.__self__, type | ModuleType | None):
        return False  # a method of an object of the test, such as `calls.append`
    if definitions.is_defined_by_test(item):
        return isinstance(item, type) and definitions.is_of_torch(item)
    if isinstance(item, type | FunctionType | BuiltinFunctionType | numpy.ufunc):
        module = getattr(item, "__module__", None) or "builtins"
        return module.partition(".")[0] in LIBRARIES and "<" not in item.__qualname__
    if isinstance(item, nn.Module):
        return True
    # Iterators and the like have a place that a copy would not share, and arrays have a path of their own.
    if type(item) is numpy.ndarray:
        return item.dtype.kind in "OV"
    return not callable(item) and type(item).__module__ != "builtins"


class _Pickler(pickle.Pickler):
    """Pickles the objects of one call, without their tensors."""

    # Set while it pickles, because it would keep the call alive.
    refer: Callable[[Any], Handle | None]
    place: Place

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.sends_code = False
        self.shared: dict[int, Any] = {}

    def persistent_id(self, item: Any) -> Any:
        """Return what stands for a tensor, an object of the student's, a function of the test, or a shared list."""
        if (handle := self.refer(item)) is not None:
            return "handle", msgspec.json.encode(handle)
        if isinstance(item, torch.Tensor):
            return "parameter" if isinstance(item, nn.Parameter) else "tensor", self.place(item), item.requires_grad
        if id(item) in self.shared:
            return "shared", list(self.shared).index(id(item))
        return None

    def reducer_override(self, item: Any) -> Any:
        """Return how to pickle what a test defines, and refuse it in an object that torch has nothing to do with."""
        if self.sends_code:
            return definitions.reduced(item, lambda part: self.shared.setdefault(id(part), part))
        if definitions.is_defined_by_test(item):
            raise pickle.PicklingError(f"the test defines {item.__qualname__}")
        return NotImplemented


class Handed:
    """The objects of the test that a call hands over."""

    def __init__(self) -> None:
        self._handles: list[LibraryObject] = []
        self.items: list[tuple[Any, list[Any]]] = []
        """The objects, each with its parts at the time of the call."""

    # Most calls hand over values only, and need neither.
    @cached_property
    def _file(self) -> io.BytesIO:
        return io.BytesIO()

    @cached_property
    def _pickler(self) -> _Pickler:
        return _Pickler(self._file)

    @property
    def shared(self) -> list[Any]:
        """The lists, dicts and sets to which the code of the test refers."""
        return list(self._pickler.shared.values()) if self.items else []

    def handle(self, item: Any, refer: Callable[[Any], Handle | None], place: Place) -> LibraryObject | None:
        """Return an object as a handle, one for the same object; None if it cannot be pickled.

        Args:
            item: the object.
            refer: returns the handle of an object that is not copied, and None for all others.
            place: adds a tensor to the message and returns its number there.
        """
        for (known, _), handle in zip(self.items, self._handles, strict=True):
            if known is item:
                return handle
        optimiser = getattr(item, "optimizer", None)
        if has_state(item) and has_state(optimiser):
            self.handle(optimiser, refer, place)  # the changes of both come back
        pickler, begin = self._pickler, self._file.tell()
        memo, shared = pickler.memo.copy(), dict(pickler.shared)
        pickler.sends_code = isinstance(item, FunctionType) or definitions.is_of_torch(item)
        pickler.refer, pickler.place = refer, place
        try:
            pickler.dump(item)
        except ProtocolError:
            raise
        except Exception:  # whatever an object raises that cannot be pickled
            pickler.memo, pickler.shared = memo, shared
            self._file.seek(begin)
            self._file.truncate()
            return None
        finally:
            del pickler.refer, pickler.place
        self._file.seek(begin)
        self._handles.append(LibraryObject(number=len(self.items), data=self._file.read()))
        self.items.append((item, parts_of(item)))
        return self._handles[-1]


def parts_of(item: Any) -> list[Any]:
    """Return a module and all modules in it; of anything else, only itself."""
    return list(item.modules()) if isinstance(item, nn.Module) else [item]


def has_state(item: Any) -> bool:
    """Return whether an object is an optimiser or a scheduler, or has such a state."""
    return not isinstance(item, nn.Module | type) and hasattr(item, "load_state_dict")
