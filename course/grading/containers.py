"""The lists and dicts among the arguments of a call: what student code writes into them is written here too.

Both sides go through the arguments in the same order, so a number names the same one here and there.
"""

from collections.abc import Iterable
from typing import Any

from course.grading.tensors import WireError


def containers(value: Any) -> list[list | dict]:
    """All lists and dicts in `value`, the outer before those that lie in them."""
    found = [value] if isinstance(value, list | dict) else []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for part in parts:
        found += containers(part)
    return found


class Watched:
    """The lists and dicts in `value` as they are now."""

    def __init__(self, value: Any) -> None:
        self._before = [(container, _content(container)) for container in containers(value)]

    def written(self) -> list[tuple[int, list | dict]]:
        """Those that hold something else since, each with its number."""
        return [
            (number, container)
            for number, (container, before) in enumerate(self._before)
            if not _is_same(_content(container), before)
        ]


def rewrite(given: list[list | dict], written: Iterable[tuple[int, list | dict]]) -> None:
    """Makes the containers of a call hold what was written into them; raises WireError where they cannot."""
    for number, content in written:
        match given[number], content:
            case list() as own, list():
                own[:] = content
            case dict() as own, dict():
                own.clear()
                own.update(content)
            case _:
                raise WireError("what was written into a list is a list, and into a dict a dict")


def _content(container: list | dict) -> list[Any]:
    return [part for pair in container.items() for part in pair] if isinstance(container, dict) else list(container)


def _is_same(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before) and all(one is other for one, other in zip(now, before, strict=True))
