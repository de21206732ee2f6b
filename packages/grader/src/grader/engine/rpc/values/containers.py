"""Finds the containers among the arguments of a call, and carries over what student code writes to them.

Containers are lists, dicts, sets, deques and bytearrays, but not arrays, which arrays.py carries over.

Both sides walk the arguments in the same order, so a number means the same container on both.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any

from grader.engine.rpc.message import ProtocolError

Container = list | dict | set | deque | bytearray
# Tuples, because isinstance takes longer with a union. A set and a bytearray hold no containers.
_CONTAINERS = (list, dict, set, deque, bytearray)
_SEQUENCES: tuple[type[Any], ...] = (list, tuple, deque, type({}.keys()), type({}.values()), type({}.items()))


def containers(value: Any) -> list[Container]:
    """Return all containers in `value`, each before those that it contains."""
    ordered: list[Container] = [value] if isinstance(value, _CONTAINERS) else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, _SEQUENCES) else ()
    for part in parts:
        ordered += containers(part)
    return ordered


class WatchedContainers:
    """The containers in `value`, with their content at the start."""

    def __init__(self, value: Any) -> None:
        self.containers = containers(value)
        self._before = [(container, _content(container)) for container in self.containers]

    def written(self) -> list[tuple[int, Container]]:
        """Return the containers whose content has changed, each with its number."""
        return [
            (number, container)
            for number, (container, before) in enumerate(self._before)
            if not _is_same(_content(container), before)
        ]


def write_back(arguments: list[Container], written: Iterable[tuple[int, Container]]) -> None:
    """Apply student code's changes to the containers of a call.

    Args:
        arguments: the caller's containers, in order.
        written: new contents, each with the number of its container.

    Raises:
        ProtocolError: a container was replaced by a value of another type.
    """
    for number, content in written:
        match arguments[number], content:
            case (list() as container, list()) | (bytearray() as container, bytearray()):
                container[:] = content
            case dict() as container, dict():
                container.clear()
                container.update(content)
            case set() as container, set():
                container.clear()
                container.update(content)
            case deque() as container, deque():
                container.clear()
                container.extend(content)
            case _:
                raise ProtocolError("the new content of a list must be a list, that of a dict a dict, and so on")


def _content(container: Container) -> list[Any]:
    return [part for pair in container.items() for part in pair] if isinstance(container, dict) else list(container)


def _is_same(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before) and all(part is former for part, former in zip(now, before, strict=True))
