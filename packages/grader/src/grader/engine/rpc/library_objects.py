"""Copies objects of libraries that a test hands to student code: a model of torch's layers, an optimiser, a DataFrame.

    object of the test --pickle--> LibraryObject: bytes; tensors by number, objects of the student's by handle
    LibraryObject --load--> a copy in the sandbox, whose changes come back: those of its tensors, modes and state_dict

Only the runner pickles, and it is trusted; what the sandbox sends is never unpickled. A class that a test itself
defines does not cross, because the sandbox does not have it.
"""

import io
import pickle
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import msgspec
import numpy

from grader.engine.rpc import library_values
from grader.engine.rpc.protocol import Handle, LibraryObject, ProtocolError
from grader.engine.rpc.values import Place
from grader.engine.torch_if_used import nn, torch

MAIN = "__main__"
LIBRARIES = sys.stdlib_module_names | {"torch", "numpy", "scipy"}
"""Packages whose functions and classes student code gets by name. Those of others are called back, as a test's are."""
_HANDLE = msgspec.json.Decoder(Handle)


def crosses(item: Any) -> bool:
    """Return whether an object may belong to a library, so that it can be copied or, if it is a function, named.

    What a test defines, and what only the process of the test can call, does not.
    """
    if isinstance(item, BuiltinFunctionType) and not isinstance(item.__self__, type | ModuleType | None):
        return False  # a method of an object of the test, such as `calls.append`
    if isinstance(item, type | FunctionType | BuiltinFunctionType | numpy.ufunc):
        module = getattr(item, "__module__", None) or "builtins"
        return module.partition(".")[0] in LIBRARIES and module != MAIN and "<" not in item.__qualname__
    if isinstance(item, nn.Module):
        return True
    # Iterators and the like have a place that a copy would not share, and arrays have a path of their own.
    if type(item) is numpy.ndarray:
        return item.dtype.kind in "OV"
    return not callable(item) and type(item).__module__ != "builtins"


class _Pickler(pickle.Pickler):
    """Pickles an object of a library without its tensors."""

    def __init__(self, file: io.BytesIO, refer: Callable[[Any], Handle | None], place: Place) -> None:
        super().__init__(file, protocol=5)
        self._refer, self._place = refer, place

    def persistent_id(self, item: Any) -> Any:
        """Return what stands for a tensor, for an object of the student's and for a function of the test."""
        if (handle := self._refer(item)) is not None:
            return "handle", msgspec.json.encode(handle)
        if isinstance(item, torch.Tensor):
            return "parameter" if isinstance(item, nn.Parameter) else "tensor", self._place(item), item.requires_grad
        return None

    def reducer_override(self, item: Any) -> Any:
        """Refuse classes of the test. Everything else is pickled as usual."""
        if isinstance(item, type | FunctionType) and item.__module__ == MAIN:
            raise pickle.PicklingError(f"the test defines {item.__qualname__}")
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    """Makes the copy; `known` holds what stands for its tensors and the student's objects in it, by their ids."""

    def __init__(self, data: bytes, resolve: Callable[[Handle], Any], tensors: list[torch.Tensor]) -> None:
        super().__init__(io.BytesIO(data))
        self._resolve, self._tensors = resolve, tensors
        self.known: dict[int, Any] = {}

    def persistent_load(self, pid: Any) -> Any:
        """Return the object in this process that `pid` stands for."""
        item = self._resolve(_HANDLE.decode(pid[1])) if pid[0] == "handle" else self._tensor(*pid)
        self.known[id(item)] = pid
        return item

    def _tensor(self, kind: str, number: int, requires_grad: bool) -> torch.Tensor:
        tensor = self._tensors[number]
        if kind == "parameter":
            tensor.__class__ = nn.Parameter  # this very tensor, whose changes the call watches
        return tensor.requires_grad_(requires_grad) if tensor.is_leaf else tensor


class _Repickler(pickle.Pickler):
    """Pickles a copy again, to see whether it has changed."""

    def __init__(self, file: io.BytesIO, known: dict[int, Any]) -> None:
        super().__init__(file, protocol=5)
        self._known = known

    def persistent_id(self, item: Any) -> Any:
        """Return what stands for a part whose content is compared elsewhere."""
        if (pid := self._known.get(id(item))) is not None:
            return pid
        return ("new", tuple(item.shape)) if isinstance(item, torch.Tensor) else None


def pickled(item: Any, number: int, refer: Callable[[Any], Handle | None], place: Place) -> LibraryObject | None:
    """Return an object of a library as a handle, or None if it cannot be pickled.

    Args:
        item: the object.
        number: its number among those of the call.
        refer: returns the handle of an object that is not copied, and None for all others.
        place: adds a tensor to the message and returns its number there.
    """
    file = io.BytesIO()
    try:
        _Pickler(file, refer, place).dump(item)
    except ProtocolError:
        raise
    except Exception:  # whatever an object raises that cannot be pickled
        return None
    return LibraryObject(number=number, data=file.getvalue())


class Copy:
    """The copy of an object in the sandbox, which knows how it arrived.

    Args:
        handle: the pickled object.
        resolve: finds the object of a handle.
        tensors: the tensors of the message.
    """

    def __init__(self, handle: LibraryObject, resolve: Callable[[Handle], Any], tensors: list[torch.Tensor]) -> None:
        unpickler = _Unpickler(handle.data, resolve, tensors)
        self.item = unpickler.load()
        self._handle, self._known = handle, unpickler.known
        self._modes = modes(self.item)
        self._before = self._pickled()

    def changes(self) -> tuple[list[bool], Any]:
        """Return the modes of the parts of a module, if one has changed, and the new state of an optimiser or a table.

        Raises:
            ProtocolError: something else has changed.
        """
        now = modes(self.item)
        if not self._has_changed():
            return now if now != self._modes else [], None
        if library_values.can_update(self.item):
            return [], self.item
        if not has_state(self.item):
            raise ProtocolError(
                f"your code changed the {type(self.item).__name__} that it was given, and such a change does not reach "
                "the test; changes of tensors, arrays, tables, lists, dicts and sets do"
            )
        return [], self.item.state_dict()

    def _has_changed(self) -> bool:
        if (now := self._pickled()) is not None and now == self._before:
            return False
        # Tables may arrange their columns again when they are read.
        if hasattr(self.item, "equals") and not isinstance(self.item, type):
            return not self.item.equals(pickle.loads(self._handle.data))
        return True

    def _pickled(self) -> bytes | None:
        """Return the bytes of the copy in its first modes; None if it cannot be pickled any more."""
        file, now = io.BytesIO(), modes(self.item)
        _switch(self.item, self._modes)
        try:
            _Repickler(file, self._known).dump(self.item)
        except Exception:  # student code may have put anything into it
            return None
        finally:
            _switch(self.item, now)
        return file.getvalue()


def modes(item: Any) -> list[bool]:
    """Return whether each part of a module is in training mode; [] for anything else."""
    return [part.training for part in item.modules()] if isinstance(item, nn.Module) else []


def has_state(item: Any) -> bool:
    """Return whether an object is an optimiser or a scheduler, or has such a state."""
    return not isinstance(item, nn.Module | type) and hasattr(item, "load_state_dict")


def apply(item: Any, new_modes: list[bool], state: Any) -> None:
    """Apply the changes of a copy to the object that was copied.

    Args:
        item: the object.
        new_modes: the modes of its parts, [] if they are unchanged.
        state: its new state, None if it is unchanged.

    Raises:
        ProtocolError: the changes do not fit the object.
    """
    if new_modes:
        if len(new_modes) != len(modes(item)):
            raise ProtocolError(f"this module has {len(modes(item))} parts; modes of {len(new_modes)} arrived")
        _switch(item, new_modes)
    if library_values.can_update(item):
        library_values.update(item, state)
    elif state is not None:
        if not has_state(item):
            raise ProtocolError(f"a {type(item).__name__} has no state; one arrived")
        try:
            item.load_state_dict(state)
        except Exception as error:
            raise ProtocolError(f"the state must fit the {type(item).__name__} ({type(error).__name__})") from None


def _switch(item: Any, new_modes: list[bool]) -> None:
    if isinstance(item, nn.Module):
        for part, mode in zip(item.modules(), new_modes, strict=False):
            part.training = mode
