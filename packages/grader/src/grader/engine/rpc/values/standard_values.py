"""Takes values of Python's standard types apart into integers and strings, and makes them again.

The types are exactly these: an instance of a subclass is an object of student code.
"""

import datetime
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from grader.engine.rpc.message import ProtocolError

MAX_BITS = 14_000
MAX_DIGITS = 4_000
"""Digits of a Decimal, and its largest exponent: as an integer, one with more would fill the memory."""

MAX_SAME_HASH = 1_000
"""Keys of a dict, or elements of a set, with the same hash. Inserting twice as many takes four times as long."""


def checked(number: int) -> int:
    """Return an integer that is not too long; raise ProtocolError otherwise."""
    # Python itself converts at most 4300 decimal digits.
    if number.bit_length() > MAX_BITS:
        raise ProtocolError(f"an integer may have {MAX_BITS} bits; this one has {number.bit_length()}")
    return number


def hashable(items: list[Any], role: str = "elements of a set") -> list[Any]:
    """Return `items`; raise ProtocolError if too many have the same hash, and TypeError if one has none."""
    if len(items) > MAX_SAME_HASH and max(Counter(map(hash, items)).values()) > MAX_SAME_HASH:
        raise ProtocolError(f"at most {MAX_SAME_HASH} {role} may have the same hash; this one has more")
    return items


class Standard(NamedTuple):
    """How values of one type cross: as parts of these types, of which `make` makes the value again."""

    types: tuple[type, ...]
    parts: Callable[[Any], tuple]
    make: Callable[..., Any]


def _decimal(text: str) -> Decimal:
    number = Decimal(text)
    if len(text) > 2 * MAX_DIGITS or (number.is_finite() and abs(number.adjusted()) > MAX_DIGITS):
        raise ProtocolError(f"a Decimal may have {MAX_DIGITS} digits; this one has more")
    return number


def _moment(moment: datetime.time | datetime.datetime) -> tuple[str]:
    if moment.tzinfo is not None and type(moment.tzinfo) is not datetime.timezone:
        raise ProtocolError(f"the time zone of a {type(moment).__name__} must be a datetime.timezone")
    return (moment.isoformat(),)


STANDARD: dict[type, Standard] = {
    bytes: Standard((str,), lambda item: (item.hex(),), bytes.fromhex),
    bytearray: Standard((str,), lambda item: (item.hex(),), bytearray.fromhex),
    range: Standard((int, int, int), lambda item: (item.start, item.stop, item.step), range),
    type(...): Standard((), lambda item: (), lambda: ...),
    type(NotImplemented): Standard((), lambda item: (), lambda: NotImplemented),
    Decimal: Standard((str,), lambda item: (str(_decimal(str(item))),), _decimal),
    Fraction: Standard((int, int), lambda item: (item.numerator, item.denominator), Fraction),
    datetime.date: Standard((str,), lambda item: (item.isoformat(),), datetime.date.fromisoformat),
    datetime.time: Standard((str,), _moment, datetime.time.fromisoformat),
    datetime.datetime: Standard((str,), _moment, datetime.datetime.fromisoformat),
    datetime.timedelta: Standard(
        (int, int, int), lambda item: (item.days, item.seconds, item.microseconds), datetime.timedelta
    ),
}
_NAMED = {kind.__name__: standard for kind, standard in STANDARD.items()}
TYPES: dict[type, str] = {
    kind: kind.__name__
    for kind in (
        *(bool, int, float, complex, str, list, tuple, dict, set, frozenset, object, type(None)),
        *(Counter, OrderedDict, defaultdict, deque, *STANDARD),
    )
}
"""Types that cross themselves: a test may compare with `int` the type that student code found."""


def parts_of(item: Any) -> list[int | str]:
    """Return the name of the type of a value and its parts; raise ProtocolError if it is too large."""
    kind = type(item)
    return [kind.__name__, *(checked(part) if type(part) is int else part for part in STANDARD[kind].parts(item))]


def made(name: str, *parts: Any) -> Any:
    """Return the value that `parts_of` took apart.

    Raises:
        TypeError: it cannot have made these parts.
        ValueError: the same.
    """
    if type(name) is not str or name not in _NAMED or tuple(map(type, parts)) != _NAMED[name].types:
        raise TypeError
    try:
        return _NAMED[name].make(*(checked(part) if type(part) is int else part for part in parts))
    except ArithmeticError:
        raise ValueError from None
