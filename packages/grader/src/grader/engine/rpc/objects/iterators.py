"""Looks into an iterator that a test hands over: the parameters of a model must cross with the call.

An iterator is lent (lent.py), so the test may hand over `map` and `zip`, or a generator without an end. If the first
item is a tensor, as with the parameters of a model, all items cross with the call, so that what student code writes
into them comes back.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from grader.engine.torch_if_used import torch

OF_PYTHON = ("builtins", "itertools")


def is_of_python(item: Any) -> bool:
    """Return whether an object is an iterator of one of Python's own classes: generators, `map`, `count` and the like.

    Args:
        item: the object.
    """
    return isinstance(item, Iterator) and type(item).__module__ in OF_PYTHON


def tensors_in(iterator: Iterator[Any]) -> tuple[list[Any] | None, Iterator[Any]]:
    """Return the items if they are tensors or tuples of them, None otherwise, and the iterator to go on with.

    Args:
        iterator: the iterator of the test.
    """
    first = list(islice(iterator, 1))
    parts = first[0] if first and isinstance(first[0], tuple) else first
    if any(isinstance(part, torch.Tensor) for part in parts):
        return [*first, *iterator], iterator
    return None, chain(first, iterator)
