"""Takes values of other libraries apart into plain parts, and makes them again: tables, graphs, matrices, expressions.

    DataFrame --parts_of--> "pandas.DataFrame", lists and arrays --message--> made --> a DataFrame of the receiver's own

Nothing of it is unpickled or evaluated: each kind of value has a function here that checks its parts and calls the
library's own constructor. Only objects of exactly these classes cross so; one of a subclass stays where it is.
"""

import importlib
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from grader.engine.rpc.message import ProtocolError


class Value(NamedTuple):
    """How values of one class cross: `make` checks the parts that `parts` found, and makes the value again."""

    parts: Callable[[Any], Any]
    make: Callable[..., Any]


class OfLibrary(NamedTuple):
    """The classes of one library whose values cross: the names of those classes, and their module here."""

    classes: frozenset[str]
    module: str


HERE = __name__.rpartition(".")[0]
PANDAS = frozenset(
    "Categorical CategoricalIndex DataFrame DatetimeIndex Index Interval IntervalIndex MultiIndex NAType NaTType "
    "RangeIndex Series Timedelta TimedeltaIndex Timestamp".split()
)
LIBRARIES = {
    "pandas": OfLibrary(PANDAS, f"{HERE}.tables"),
    "networkx": OfLibrary(frozenset(("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")), f"{HERE}.networks"),
    "scipy": OfLibrary(
        frozenset(f"{name}_{kind}" for name in "bsr coo csc csr dia dok lil".split() for kind in ("array", "matrix"))
        | {"OptimizeResult"},
        f"{HERE}.networks",
    ),
    "numpy": OfLibrary(frozenset(("ndarray", "recarray", "matrix", "MaskedArray")), f"{HERE}.special_arrays"),
    "sympy": OfLibrary(frozenset(), f"{HERE}.expressions"),
}
"""Imported when a value of the library crosses, and not before."""


def name_of(kind: type) -> str:
    """Return the name by which values of a class cross, '' if they do not.

    Args:
        kind: the class.
    """
    library = kind.__module__.partition(".")[0] if isinstance(kind.__module__, str) else ""
    if library not in LIBRARIES or library not in sys.modules:
        return ""
    name = f"{library}.{kind.__name__}"
    if kind.__name__ in LIBRARIES[library].classes:
        return name if _class(library, kind.__name__) is kind else ""
    if library == "sympy" and _value(library).crosses(kind):
        return "sympy.expression"
    return ""


def parts_of(item: Any, name: str) -> Any:
    """Return the parts of a value: numbers, strings, collections, arrays and further values of libraries.

    Args:
        item: the value.
        name: its name by `name_of`.
    """
    library, _, kind = name.partition(".")
    return _value(library).parts(item, kind)


def made(name: Any, parts: Any) -> Any:
    """Return the value that `parts_of` took apart.

    Args:
        name: the name that arrived.
        parts: its parts, which hold no object of the sender's.

    Raises:
        ProtocolError: there is no such value.
    """
    library, _, kind = name.partition(".") if type(name) is str else ("", "", "")
    if library not in LIBRARIES or not (kind in LIBRARIES[library].classes or name == "sympy.expression"):
        raise ProtocolError("a value of a library must be of a class whose values cross; this one is not")
    try:
        return _value(library).make(parts, kind)
    except ProtocolError:
        raise
    except Exception as error:  # whatever the library raises
        raise ProtocolError(f"the parts of a {name} must fit together ({type(error).__name__})") from None


def update(item: Any, new: Any) -> None:
    """Give a table the content of another one of its class, in place.

    Args:
        item: the table of the test.
        new: what student code made of it.

    Raises:
        ProtocolError: it is no such table.
    """
    name = name_of(type(item))
    if type(new) is not type(item) or name not in ("pandas.DataFrame", "pandas.Series"):
        raise ProtocolError(f"the new content of a {type(item).__name__} must be one; a {type(new).__name__} arrived")
    _value("pandas").update(item, new)


def can_update(item: Any) -> bool:
    """Return whether `update` can carry changes of an object over."""
    return name_of(type(item)) in ("pandas.DataFrame", "pandas.Series")


def _value(library: str) -> Any:
    return importlib.import_module(LIBRARIES[library].module)


def _class(library: str, name: str) -> Any:
    return _value(library).class_named(name)


def array(item: Any, kinds: str = "") -> numpy.ndarray:
    """Return an array among the parts of a value; raise TypeError if it is none.

    Args:
        item: what arrived.
        kinds: the kinds of dtypes that it may have; '' for any.
    """
    if type(item) is not numpy.ndarray or (kinds and item.dtype.kind not in kinds):
        raise TypeError
    return item


def text(item: Any) -> str:
    """Return a string among the parts of a value; raise TypeError if it is none."""
    if type(item) is not str:
        raise TypeError
    return item
