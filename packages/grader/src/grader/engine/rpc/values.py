"""Packs values into JSON trees and unpacks them: everything in a message except the content of its tensors.

    value --pack--> tree with numbers for tensors, tensors --unpack--> value

None, bool, int, float, str, list, tuple, named tuple, dict, slice, torch dtypes, plain tensors and numpy scalars cross
as copies. For everything else the sender's `refer` hook makes a handle, and the receiver's `resolve` hook finds the
object of the handle on its side.
"""

import math
from collections import Counter, namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
import numpy

from grader.engine.rpc.protocol import Handle, ProtocolError, Tree
from grader.engine.rpc.tensors import FROM_NAME, dtype_name
from grader.engine.torch_if_used import torch

MAX_DEPTH = 32
MAX_NODES = 200_000
MAX_BITS = 14_000
MAX_FIELDS, MAX_NAME = 100, 100
"""Fields of a named tuple, and characters of a name; bounded because the runner caches the tuple's class."""
NOT_FINITE = ("nan", "inf", "-inf")
MAX_SAME_HASH = 1_000
"""Keys of a dict with the same hash. Inserting twice as many takes four times as long."""
NUMPY_DTYPES = {name: numpy.dtype(name) for name in FROM_NAME if name != "bfloat16"}
"""Dtypes of numpy scalars that can cross: those of tensors, without the one that numpy lacks."""

Place = Callable[[torch.Tensor], int]
"""Adds a tensor to the message and returns its number there."""
Refer = Callable[[Any, Place], Handle]
Resolve = Callable[[Handle, list[torch.Tensor]], Any]
_PLAIN: tuple[type[Any], ...] = (bool, int, float, str, list)
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
) -> Any:
    """Return the value of a tree.

    Args:
        tree: the tree that arrived.
        tensors: the tensors of the message.
        resolve: finds the object of a handle.
        check_field: takes a value and the name of its field in a named tuple, and returns the value for this field.

    Raises:
        ProtocolError: `pack` cannot have made this tree.
    """
    try:
        return _Unpacker(resolve, check_field, tensors).walk(tree, 0)
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
    """

    __slots__ = ("nodes", "places", "refer", "tensors")

    def __init__(self, refer: Refer, tensors: list[torch.Tensor]) -> None:
        self.refer = refer
        self.tensors = tensors
        self.places: dict[int, int] = {}
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
            return _checked(item)
        if kind is str:
            return item if item.isascii() else _text(item)
        if kind is float:
            # JSON has no infinity and no NaN.
            return item if math.isfinite(item) else {"float": repr(item)}
        if isinstance(item, torch.Tensor):
            return {"tensor": self.place(item)}
        walk, below = self.walk, depth + 1
        if kind is list:
            return [walk(part, below) for part in item]
        if isinstance(item, tuple):
            parts = [walk(part, below) for part in item]
            names = () if kind is tuple else _names(kind)
            return {"named": [kind.__name__, names, parts]} if 0 < len(parts) == len(names) else {"tuple": parts}
        if isinstance(item, dict):
            return {"dict": [[walk(key, below), walk(part, below)] for key, part in item.items()]}
        if isinstance(item, numpy.generic) and item.dtype.name in NUMPY_DTYPES:
            # Not as a Python number: a test may distinguish the two, and in a notebook it would get numpy's.
            return {"numpy": [item.dtype.name, item.tobytes().hex()]}
        for plain in _PLAIN:
            if isinstance(item, plain):
                return walk(plain(item), below)
        if kind is slice:
            return {"slice": [walk(part, below) for part in (item.start, item.stop, item.step)]}
        if kind is torch.dtype:
            return {"dtype": dtype_name(item)}
        return {"handle": self.refer(item, self.place)}


class _Unpacker:
    """Makes one value of a tree."""

    __slots__ = ("check_field", "nodes", "resolve", "tensors")

    def __init__(
        self,
        resolve: Resolve,
        check_field: Callable[[Any, str], Any],
        tensors: list[torch.Tensor],
    ) -> None:
        self.resolve = resolve
        self.check_field = check_field
        self.tensors = tensors
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
        if tag == "dict" and type(part) is list:
            return _dict([(walk(key, below), walk(value, below)) for key, value in part])
        if tag == "named" and type(part) is list and len(part) == 3:
            class_name, names, parts = part
            kind = _named_tuple(class_name, tuple(names))
            return kind(*[self.check_field(walk(inner, below), name) for name, inner in zip(names, parts, strict=True)])
        if tag == "slice" and type(part) is list and len(part) == 3:
            return slice(*[walk(bound, below) for bound in part])
        if tag == "dtype" and type(part) is str and part in FROM_NAME:
            return FROM_NAME[part]
        if tag == "numpy" and type(part) is list and len(part) == 2 and part[0] in NUMPY_DTYPES:
            name, digits = part
            [number] = numpy.frombuffer(bytes.fromhex(digits), NUMPY_DTYPES[name])
            return number
        if tag == "handle":
            return self.resolve(msgspec.convert(part, Handle), self.tensors)
        if tag == "float" and part in NOT_FINITE:
            return float(part)
        if tag == "text" and type(part) is str:
            return part.encode("ascii").decode("unicode_escape")
        raise ProtocolError("values must arrive as trees that `pack` makes; this one does not")


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


def _text(text: str) -> Tree:
    """Return the tree of a string: JSON cannot hold half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"text": text.encode("unicode_escape").decode("ascii")}
    return text


def _names(kind: type[tuple]) -> list[str]:
    """Return the field names of a NamedTuple or of a result of torch (`x.max(1)`); [] for other tuples."""
    names = getattr(kind, "__match_args__", ())
    are_fields = kind.__module__ == "torch.return_types" or hasattr(kind, "_fields")
    return list(names) if are_fields and len(names) <= MAX_FIELDS else []


@lru_cache(maxsize=256)
def _named_tuple(name: str, names: tuple[str, ...]) -> type[tuple]:
    """Return a class of named tuples; raise ValueError or TypeError if Python does not allow the names."""
    if len(names) > MAX_FIELDS or any(type(text) is not str or len(text) > MAX_NAME for text in (name, *names)):
        raise TypeError
    return namedtuple(name, names)


def _too_large() -> ProtocolError:
    return ProtocolError(f"a value may be {MAX_DEPTH} levels deep and have {MAX_NODES} parts; this one has more")


def _dict(items: list[tuple[Any, Any]]) -> dict[Any, Any]:
    if len(items) > MAX_SAME_HASH and max(Counter(hash(key) for key, _ in items).values()) > MAX_SAME_HASH:
        raise ProtocolError(f"at most {MAX_SAME_HASH} keys of a dict may have the same hash; this dict has more")
    return dict(items)


def _checked(number: int) -> int:
    # Python itself converts at most 4300 decimal digits.
    if number.bit_length() > MAX_BITS:
        raise ProtocolError(f"an integer may have {MAX_BITS} bits; this one has {number.bit_length()}")
    return number
