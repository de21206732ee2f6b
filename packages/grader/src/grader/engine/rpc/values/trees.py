"""Packs values into JSON trees and unpacks them: everything in a message except the content of its tensors.

    value --pack--> tree with numbers for tensors, tensors --unpack--> value

Numbers, strings, collections and dates of Python's standard types, tensors, arrays and scalars of numpy, and dtypes
cross as copies. For everything else the sender's `refer` hook makes a handle, and the receiver's `resolve` hook finds
the object of the handle on its side.
"""

import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
import numpy

from grader.engine.rpc.message import ProtocolError, Tree
from grader.engine.rpc.objects.handles import HANDLES_BY_NAME, Given, GivenRef, Handle, handle_from
from grader.engine.rpc.values import arrays, library_values
from grader.engine.rpc.values.standard_values import MAX_SAME_HASH, STANDARD, TYPES, checked, hashable, made, parts_of
from grader.engine.rpc.values.tensors import FROM_NAME, dtype_name
from grader.engine.torch_if_used import nn, torch

MAX_DEPTH = 32
MAX_NODES = 200_000
MAX_FIELDS, MAX_NAME = 100, 100
"""Fields of a named tuple, and characters of a name; bounded because the runner caches the tuple's class."""
NOT_FINITE = ("nan", "inf", "-inf")
CPU = "cpu"

Place = Callable[[torch.Tensor], int]
"""Adds a tensor to the message and returns its number there."""
Refer = Callable[[Any, Place], Handle]
Resolve = Callable[[Handle, list[torch.Tensor]], Any]
_PLAIN: tuple[type[Any], ...] = (bool, int, float, str, list, bytes)
"""The types whose subclasses cross as instances of the type itself."""


def pack(value: Any, refer: Refer, tensors: list[torch.Tensor]) -> Tree:
    """Return the tree of `value`.

    Args:
        value: the value to send.
        refer: makes a handle for an object that does not cross.
        tensors: the tensors of the message; those of `value` are appended, and the tree refers to them by number.

    Raises:
        ProtocolError: the value is too large or too deep, or a part of it cannot cross.
    """
    return Packer(refer, tensors).walk(value, 0)


def unpack(
    tree: Tree,
    tensors: list[torch.Tensor],
    resolve: Resolve,
    check_field: Callable[[Any, str], Any] = lambda value, name: value,
    found: dict[int, numpy.ndarray] | None = None,
) -> Any:
    """Return the value of a tree.

    Args:
        tree: the tree that arrived.
        tensors: the tensors of the message.
        resolve: finds the object of a handle.
        check_field: takes a value and the name of its field in a named tuple, and returns the value for this field.
        found: receives the arrays of the value by the numbers of their tensors.

    Raises:
        ProtocolError: `pack` cannot have made this tree.
    """
    try:
        return _Unpacker(resolve, check_field, tensors, {} if found is None else found).walk(tree, 0)
    except (TypeError, ValueError, msgspec.ValidationError) as error:
        raise ProtocolError(
            f"values must arrive as trees that `pack` makes; this one does not ({type(error).__name__})"
        ) from None


class Packer:
    """Makes trees whose tensors belong to one message.

    It is a class because the closure of a nested recursive function would form a reference cycle, which keeps tensors
    alive until the next garbage collection.

    Args:
        refer: makes a handle for an object that does not cross.
        tensors: the tensors of the message; those of the values are appended.
        known: in the sandbox, the kinds and numbers of the objects that it was given, by their ids. Values of libraries
            cross as such from the sandbox only: what a test hands over is pickled (library_objects.py).
        parameter: in the runner, returns the handle of a parameter that the sandbox has; a copy would not be trained.
    """

    __slots__ = ("arrays", "known", "nodes", "parameter", "places", "refer", "tensors")

    def __init__(
        self,
        refer: Refer,
        tensors: list[torch.Tensor],
        known: dict[int, list[Any]] | None = None,
        parameter: Callable[[torch.Tensor], Handle | None] | None = None,
    ) -> None:
        self.refer, self.parameter = refer, parameter
        self.tensors = tensors
        self.known = known
        self.places: dict[int, int] = {}
        self.arrays: dict[int, numpy.ndarray] = {}
        """The arrays by the numbers of their tensors, which do not hold the array itself where torch needs a copy."""
        self.nodes = 0

    def place(self, tensor: torch.Tensor) -> int:
        """Return the number of `tensor` in the message, after adding it if it is new.

        A repeated tensor stays one tensor: self-attention is called as f(x, x, x).
        """
        if id(tensor) not in self.places:
            self.places[id(tensor)] = len(self.tensors)
            self.tensors.append(tensor)
        return self.places[id(tensor)]

    def walk(self, item: Any, depth: int) -> Tree:
        """Return the tree of a value.

        Args:
            item: the value.
            depth: its level in the whole value.

        Raises:
            ProtocolError: the value is too large or too deep, or a part of it cannot cross.
        """
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise _too_large()
        kind = type(item)
        if item is None or kind is bool:
            return item
        if kind is int:
            return checked(item)
        if kind is str:
            return item if item.isascii() else _text(item)
        if kind is float:
            # JSON has no infinity and no NaN.
            return item if math.isfinite(item) else {"float": repr(item)}
        if isinstance(item, torch.Tensor):
            if kind is nn.Parameter and self.parameter is not None and (handle := self.parameter(item)) is not None:
                return {"handle": handle}
            tree = {"tensor": self.place(item)}
            given = None if not self.known or item.requires_grad else self.known.get(id(item))
            return tree if given is None else {"given": [*given, tree]}
        walk, below = self.walk, depth + 1
        if self.known and id(item) in self.known:
            return self._given(item, depth)
        if kind is list:
            return [walk(part, below) for part in item]
        if isinstance(item, tuple):
            parts = [walk(part, below) for part in item]
            if kind is torch.Size:
                return {"size": parts}
            names = () if kind is tuple else _names(kind)
            return {"named": [kind.__name__, names, parts]} if 0 < len(parts) == len(names) else {"tuple": parts}
        if (
            kind is not dict
            and kind is not numpy.ndarray
            and self.known is not None
            and (known := library_values.name_of(kind))
        ):
            return self._of_library(item, known, below)
        if isinstance(item, dict):
            pairs = [[walk(key, below), walk(part, below)] for key, part in item.items()]
            if isinstance(item, defaultdict) and kind is defaultdict:
                return {"defaultdict": [walk(item.default_factory, below), pairs]}
            return {_DICT_TAGS.get(kind, "dict"): pairs}
        if isinstance(item, numpy.generic) and (name := arrays.scalar_name(item.dtype)) and item.dtype.kind not in "US":
            # Not as a Python number: a test may distinguish the two, and in a notebook it would get numpy's.
            return {"numpy": [name, item.tobytes().hex()]}
        if kind in _RARE:
            return self._rare(item, kind, below)
        for plain in _PLAIN:
            if isinstance(item, plain):
                return walk(plain(item), below)
        if kind is slice:
            return {"slice": [walk(part, below) for part in (item.start, item.stop, item.step)]}
        if kind is torch.dtype:
            return {"dtype": dtype_name(item)}
        if kind is torch.device and str(item) == CPU:
            return {"device": CPU}
        return {"handle": self.refer(item, self.place)}

    def _rare(self, item: Any, kind: type, below: int) -> Tree:
        """Return the tree of a value of one of the types that most messages do not have."""
        if kind is numpy.ndarray:
            if item.dtype.kind not in "OV":
                return {"array": self._array(item)}
            if self.known is not None:
                return self._of_library(item, "numpy.ndarray", below)
            return {"handle": self.refer(item, self.place)}
        if kind is complex:
            return {"complex": [self.walk(item.real, below), self.walk(item.imag, below)]}
        if kind is set or kind is frozenset:
            # Sorted, so that equal sets have equal trees.
            return {kind.__name__: sorted((self.walk(part, below) for part in item), key=repr)}
        if kind is deque:
            return {"deque": [item.maxlen, [self.walk(part, below) for part in item]]}
        if kind in STANDARD:
            return {"standard": parts_of(item)}
        if kind in _VIEWS:
            return {"view": [kind.__name__, [self.walk(part, below) for part in item]]}
        is_type = isinstance(item, type)
        name = _TYPE_NAMES.get(item) if is_type else arrays.scalar_name(item)
        if name is None:
            return {"handle": self.refer(item, self.place)}
        return {"type" if is_type else "numpy_dtype": name}

    def _given(self, item: Any, depth: int) -> Tree:
        """Return the tree of an object that student code was given: its number, and its content for a diagnosis."""
        assert self.known is not None
        given = self.known.pop(id(item))
        try:
            content = [] if given[0] == Given.LENT else [self.walk(item, depth)]
        finally:
            self.known[id(item)] = given
        return {"given": [*given, *content]}

    def _of_library(self, item: Any, name: str, below: int) -> Tree:
        """Return the tree of a value of a library, or a handle if a part of it is an object of student code."""
        refer, nodes = self.refer, self.nodes
        self.refer = _no_object
        try:
            return {"library": [name, self.walk(library_values.parts_of(item, name), below)]}
        except Exception:  # whatever the library raises for a value that student code has tampered with
            self.nodes = nodes
        finally:
            self.refer = refer
        return {"handle": refer(item, self.place)}

    def _array(self, array: numpy.ndarray) -> list[Any]:
        if id(array) not in self.places:
            self.arrays[len(self.tensors)] = array
            self.places[id(array)] = len(self.tensors)
            self.tensors.append(arrays.as_tensor(array))
        place = [self.places[id(array)], array.flags.writeable]
        return [*place, array.dtype.str] if arrays.crosses_as_bytes(array.dtype) else place


class _Unpacker:
    """Makes one value of a tree."""

    __slots__ = ("arrays", "check_field", "nodes", "resolve", "tensors")

    def __init__(
        self,
        resolve: Resolve,
        check_field: Callable[[Any, str], Any],
        tensors: list[torch.Tensor],
        arrays: dict[int, numpy.ndarray],
    ) -> None:
        self.resolve = resolve
        self.check_field = check_field
        self.tensors = tensors
        self.arrays = arrays
        self.nodes = 0

    def walk(self, item: Any, depth: int) -> Any:
        """Return the value of `item`, at level `depth`."""
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise _too_large()
        kind = type(item)
        if kind is not dict and kind is not list:
            return item
        walk, below = self.walk, depth + 1
        if kind is list:
            return [walk(part, below) for part in item]
        # Every message passes through here, and a match statement would take three times as long.
        [(tag, part)] = item.items()
        if tag == "tensor" and type(part) is int and 0 <= part < len(self.tensors):
            return self.tensors[part]
        if tag == "tuple" and type(part) is list:
            return tuple([walk(inner, below) for inner in part])
        if tag in _DICTS and type(part) is list:
            new = _dict([(walk(key, below), walk(value, below)) for key, value in part])
            return new if tag == "dict" else _DICTS[tag](new)
        if tag == "named" and type(part) is list and len(part) == 3:
            class_name, names, parts = part
            kind = _named_tuple(class_name, tuple(names))
            return kind(*[self.check_field(walk(inner, below), name) for name, inner in zip(names, parts, strict=True)])
        if tag == "size" and type(part) is list and all(type(size) is int for size in part):
            return torch.Size(part)
        if tag == "device" and part == CPU:
            return torch.device(CPU)
        if tag == "slice" and type(part) is list and len(part) == 3:
            return slice(*[walk(bound, below) for bound in part])
        if tag == "dtype" and type(part) is str and part in FROM_NAME:
            return FROM_NAME[part]
        if tag == "numpy" and type(part) is list and len(part) == 2:
            name, digits = part
            [number] = numpy.frombuffer(bytes.fromhex(digits), arrays.scalar_dtype(name, "US"))
            return number
        if tag == "handle":
            return self.resolve(handle_from(part, HANDLES_BY_NAME), self.tensors)
        if tag == "float" and part in NOT_FINITE:
            return float(part)
        if tag == "text" and type(part) is str:
            return part.encode("ascii").decode("unicode_escape")
        if tag == "numpy_dtype":
            return arrays.scalar_dtype(part)
        if tag == "type" and type(part) is str and part in _NAMED_TYPES:
            return _NAMED_TYPES[part]
        if type(part) is list:
            return self._rare(tag, part, below)
        raise _not_packed()

    def _rare(self, tag: str, parts: list[Any], below: int) -> Any:
        """Return a value of one of the types that most messages do not have."""
        walk = self.walk
        if tag == "array":
            return self._array(*parts)
        if tag == "complex":
            real, imaginary = (walk(part, below) for part in parts)
            if type(real) is float and type(imaginary) is float:
                return complex(real, imaginary)
        if tag == "set":
            return set(hashable([walk(part, below) for part in parts]))
        if tag == "frozenset":
            return frozenset(hashable([walk(part, below) for part in parts]))
        if tag == "deque":
            length, items = parts
            if type(items) is list:
                return deque([walk(part, below) for part in items], length)
        if tag == "defaultdict":
            factory, pairs = parts
            return defaultdict(walk(factory, below), walk({"dict": pairs}, below))
        if tag == "standard":
            return made(*parts)
        if tag == "given" and len(parts) >= 2:
            return self.resolve(
                msgspec.convert({"type": "GivenRef", "kind": parts[0], "number": parts[1]}, GivenRef), []
            )
        if tag == "library" and len(parts) == 2:
            return self._of_library(parts[0], parts[1], below)
        if tag == "view":
            name, content = parts
            if type(name) is str and name in _VIEWS_OF and type(content) is list:
                return _VIEWS_OF[name]([walk(part, below) for part in content])
        raise _not_packed()

    def _of_library(self, name: Any, parts: Any, below: int) -> Any:
        resolve, self.resolve = self.resolve, _no_object
        try:
            return library_values.made(name, self.walk(parts, below))
        finally:
            self.resolve = resolve

    def _array(self, number: int, is_writeable: bool, dtype: str | None = None) -> numpy.ndarray:
        if type(number) is not int or type(is_writeable) is not bool:
            raise _not_packed()
        if number not in self.arrays:
            self.arrays[number] = arrays.as_array(tensor_at(self.tensors, number), is_writeable, dtype)
        return self.arrays[number]


def tensor_at(tensors: list[torch.Tensor], number: int) -> torch.Tensor:
    """Return a tensor of a message by its number.

    Args:
        tensors: the tensors of the message.
        number: the number, from 0.

    Raises:
        ProtocolError: the message has no such tensor.
    """
    if not 0 <= number < len(tensors):
        raise ProtocolError(f"a message must name one of its {len(tensors)} tensors; there is no tensor {number}")
    return tensors[number]


def _no_object(item: Any, place: Any) -> Any:
    """Refuse an object where only values can be."""
    raise ProtocolError("a value of a library must hold values; this one holds an object of student code")


def _text(text: str) -> Tree:
    """Return the tree of a string: JSON cannot hold half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"text": text.encode("unicode_escape").decode("ascii")}
    return text


def _names(kind: type[tuple]) -> list[str]:
    """Return the field names of a NamedTuple or of a result of torch (`x.max(1)`); [] for other tuples."""
    names = getattr(kind, "__match_args__" if kind.__module__ == "torch.return_types" else "_fields", ())
    return list(names) if len(names) <= MAX_FIELDS and all(map(str.isidentifier, names)) else []


@lru_cache(maxsize=256)
def _named_tuple(name: str, names: tuple[str, ...]) -> type[tuple]:
    """Return a class of named tuples; raise ValueError or TypeError if Python does not allow the names."""
    if len(names) > MAX_FIELDS or any(type(text) is not str or len(text) > MAX_NAME for text in (name, *names)):
        raise TypeError
    return namedtuple(name, names)


def _too_large() -> ProtocolError:
    return ProtocolError(f"a value may be {MAX_DEPTH} levels deep and have {MAX_NODES} parts; this one has more")


def _not_packed() -> ProtocolError:
    return ProtocolError("values must arrive as trees that `pack` makes; this one does not")


def _dict(items: list[tuple[Any, Any]]) -> dict[Any, Any]:
    if len(items) > MAX_SAME_HASH:
        hashable([key for key, _ in items], "keys of a dict")
    return dict(items)


_DICT_TAGS: dict[type, str] = {Counter: "Counter", OrderedDict: "OrderedDict"}
_DICTS: dict[str, type[dict]] = {"dict": dict, **{tag: kind for kind, tag in _DICT_TAGS.items()}}
_TYPE_NAMES = TYPES | arrays.TYPES
_NAMED_TYPES = {name: kind for kind, name in _TYPE_NAMES.items()}
_VIEWS_OF: dict[str, Callable[[list[Any]], Any]] = {
    "dict_keys": lambda keys: dict.fromkeys(hashable(keys)).keys(),
    "dict_values": lambda values: dict(enumerate(values)).values(),
    "dict_items": lambda items: _dict(items).items(),
}
_VIEWS = {type({}.keys()), type({}.values()), type({}.items())}
_RARE = {
    *(numpy.ndarray, complex, set, frozenset, deque, *map(type, _TYPE_NAMES)),
    *(*STANDARD, *arrays.DTYPE_CLASSES, *_VIEWS),
}
