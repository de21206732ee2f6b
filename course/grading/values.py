"""Values as trees of JSON and back: what a message says, but for the numbers in its tensors.

    value --pack--> tree with numbered places, tensors --unpack--> value

None, bool, int, float, str, list, tuple, dict, slice, torch dtypes, plain tensors and numpy's single numbers cross as
copies; a tuple whose fields have names keeps them. For everything else the sender's `refer` hook says what the other
side may know of it, and the receiver's `resolve` hook makes of that what stands for it there.
"""

from collections import Counter, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy
import torch

from course.grading.tensors import FROM_NAME, WireError, dtype_name

MAX_DEPTH = 32
MAX_NODES = 200_000
MAX_BITS = 14_000
MAX_FIELDS, MAX_NAME = 100, 100
"""Of a named tuple, and characters of their names: an examiner keeps its class for the next one of the kind."""
MAX_SAME_HASH = 1_000
"""Keys of a dict that have the same hash: twice as many take four times as long to put in."""
NUMPY_DTYPES = {name: numpy.dtype(name) for name in FROM_NAME if name != "bfloat16"}
"""Those of the numbers of numpy that cross: the ones of tensors, of which numpy lacks one."""


@dataclass(frozen=True)
class Reference:
    """Stands for something that does not cross: what the other side is told of it, itself a dict of values."""

    says: dict[str, Any]


def pack(value: Any, refer: Callable[[Any], Reference], tensors: list[torch.Tensor]) -> Any:
    """The JSON tree of `value`; its tensors are appended to `tensors` and stand in the tree as their number there."""
    return _Packer(refer, tensors).walk(value, 0)


def unpack(
    tree: Any,
    tensors: list[torch.Tensor],
    resolve: Callable[[dict[str, Any]], Any],
    field: Callable[[Any, str], Any] = lambda found, name: found,
) -> Any:
    """The value of a JSON tree; raises WireError where the tree is none that `pack` makes.

    `field` says what a named tuple holds where `found` arrived under this name.
    """
    try:
        return _Unpacker(resolve, field, tensors).walk(tree, 0)
    except (TypeError, ValueError) as error:
        raise WireError(f"a message holds what `pack` makes; something else arrived ({type(error).__name__})") from None


class _Packer:
    """Makes one tree.

    No function in a function: one that calls itself would hold a call's tensors until a garbage collection.
    """

    __slots__ = ("nodes", "places", "refer", "tensors")

    def __init__(self, refer: Callable[[Any], Reference], tensors: list[torch.Tensor]) -> None:
        self.refer = refer
        self.tensors = tensors
        self.places: dict[int, int] = {}
        self.nodes = 0

    def walk(self, item: Any, depth: int) -> Any:
        """The tree of `item`, which lies `depth` levels deep."""
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise _too_large()
        kind = type(item)
        if item is None or kind is bool or kind is float or kind is str:
            return item
        if kind is int:
            return _checked(item)
        if isinstance(item, torch.Tensor):
            # One tensor under two names stays one: self-attention is called as f(x, x, x).
            if id(item) not in self.places:
                self.places[id(item)] = len(self.tensors)
                self.tensors.append(item)
            return {"tensor": self.places[id(item)]}
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
            # Not as Python's: a test may tell them apart, and in the notebook it sees this one.
            return {"numpy": [item.dtype.name, item.tobytes().hex()]}
        for plain in (bool, int, float, str, list):
            if isinstance(item, plain):
                return walk(plain(item), below)
        if kind is slice:
            return {"slice": [walk(part, below) for part in (item.start, item.stop, item.step)]}
        if kind is torch.dtype:
            return {"dtype": dtype_name(item)}
        return {"says": {key: walk(part, below) for key, part in self.refer(item).says.items()}}


class _Unpacker:
    """Makes one value of a tree."""

    __slots__ = ("field", "nodes", "resolve", "tensors")

    def __init__(
        self,
        resolve: Callable[[dict[str, Any]], Any],
        field: Callable[[Any, str], Any],
        tensors: list[torch.Tensor],
    ) -> None:
        self.resolve = resolve
        self.field = field
        self.tensors = tensors
        self.nodes = 0

    def walk(self, item: Any, depth: int) -> Any:
        """The value of `item`, which lies `depth` levels deep."""
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise _too_large()
        kind = type(item)
        if kind is not dict and kind is not list:
            return item
        walk, below = self.walk, depth + 1
        if kind is list:
            return [walk(part, below) for part in item]
        # Every message passes here: a match statement would take three times as long.
        [(tag, part)] = item.items()
        if tag == "tensor" and type(part) is int and 0 <= part < len(self.tensors):
            return self.tensors[part]
        if tag == "tuple" and type(part) is list:
            return tuple([walk(inner, below) for inner in part])
        if tag == "dict" and type(part) is list:
            return _dict([(walk(key, below), walk(value, below)) for key, value in part])
        if tag == "named" and type(part) is list and len(part) == 3:
            name, names, parts = part
            kind = _named_tuple(name, tuple(names))
            return kind(*[self.field(walk(inner, below), said) for said, inner in zip(names, parts, strict=True)])
        if tag == "slice" and type(part) is list and len(part) == 3:
            return slice(*[walk(bound, below) for bound in part])
        if tag == "dtype" and type(part) is str and part in FROM_NAME:
            return FROM_NAME[part]
        if tag == "numpy" and type(part) is list and len(part) == 2 and part[0] in NUMPY_DTYPES:
            name, digits = part
            [number] = numpy.frombuffer(bytes.fromhex(digits), NUMPY_DTYPES[name])
            return number
        if tag == "says" and type(part) is dict:
            return self.resolve({key: walk(value, below) for key, value in part.items()})
        raise WireError("a message holds what `pack` makes; something else arrived")


def _names(kind: type[tuple]) -> list[str]:
    """What the fields of a NamedTuple or of a result of torch (`x.max(1)`) are called; of other tuples, nothing."""
    names = getattr(kind, "__match_args__", ())
    are_fields = kind.__module__ == "torch.return_types" or hasattr(kind, "_fields")
    return list(names) if are_fields and len(names) <= MAX_FIELDS else []


@lru_cache(maxsize=256)
def _named_tuple(name: str, names: tuple[str, ...]) -> type[tuple]:
    """A class of tuples with these fields; raises ValueError or TypeError where Python knows no such names."""
    if len(names) > MAX_FIELDS or any(type(said) is not str or len(said) > MAX_NAME for said in (name, *names)):
        raise TypeError
    return namedtuple(name, names)


def _too_large() -> WireError:
    return WireError(f"a value may be {MAX_DEPTH} levels deep and have {MAX_NODES} parts; this one has more")


def _dict(items: list[tuple[Any, Any]]) -> dict[Any, Any]:
    if len(items) > MAX_SAME_HASH and max(Counter(hash(key) for key, _ in items).values()) > MAX_SAME_HASH:
        raise WireError(f"no more than {MAX_SAME_HASH} keys of a dict may have the same hash; these have more")
    return dict(items)


def _checked(number: int) -> int:
    # Python itself writes and reads no more than 4300 digits.
    if number.bit_length() > MAX_BITS:
        raise WireError(f"a whole number may have {MAX_BITS} binary digits; this one has {number.bit_length()}")
    return number
