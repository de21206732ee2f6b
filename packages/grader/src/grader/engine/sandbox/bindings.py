"""Records the names that each cell binds, and returns them as a test sees them.

    namespace after a cell --record--> changes, by place --seen_from(view)--> the names of a test

A test sees an exercise as it was at its visible check. Below it, one of the student's own cells may use a name of the
exercise for something else (`patches = patches(x, 4)`), which does not count. A definition by `def` or `class` does: it
is a new answer.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper
from types import FunctionType
from typing import Any

from grader.engine.notebook.names import View
from grader.engine.rpc.protocol import MAX_LINE, RunCell

UNBOUND = object()
"""The value of a name that a cell deleted."""
MAX_DECORATORS = 20
HISTORY = re.compile(r"_+(i{0,3}|i?\d+|[ido]h)")
"""Names that IPython binds to earlier cells and their values."""
MAX_BOUND = 1_000
"""Names of one cell that are reported."""


@dataclass
class _Changes:
    """The names that the cells of one place changed, with their new values.

    `rebound` holds later changes by the student's own cells that define nothing, and `blank` the names among `counted`
    that an unwritten answer defines.
    """

    counted: dict[str, Any] = field(default_factory=dict)
    rebound: dict[str, Any] = field(default_factory=dict)
    blank: set[str] = field(default_factory=set)


class Bindings:
    """The names that the cells of a notebook have bound so far."""

    def __init__(self) -> None:
        self._changes: dict[int, _Changes] = {}
        self._latest: dict[str, Any] = {}
        self._instructors_files: set[str] = set()
        self._bound: dict[str, set[str]] = {}
        self._words: dict[str, set[str]] = {}

    def record(self, cell: RunCell, namespace: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Record the changes that a cell made; return the names that it bound, and those among them that it defined.

        Args:
            cell: the cell, which has just run.
            namespace: the names after it.
        """
        before, self._latest = self._latest, dict(namespace)
        changed = {name: item for name, item in namespace.items() if before.get(name, UNBOUND) is not item}
        bound = identifiers(changed)
        changed |= dict.fromkeys(before.keys() - namespace.keys(), UNBOUND)
        if not cell.is_own:
            self._instructors_files.add(f"<{cell.name}>")
            self._bound[cell.name], self._words[cell.name] = set(bound), set(re.findall(r"\w+", cell.source))
        changes = self._changes.setdefault(cell.place, _Changes())
        defined = []
        for name, item in changed.items():
            if cell.is_own and (cell.is_blank or not self._is_definition(name, item, namespace, before)):
                changes.rebound[name] = item
                continue
            defined.append(name)
            changes.counted[name] = item
            changes.rebound.pop(name, None)
            (changes.blank.add if cell.is_blank else changes.blank.discard)(name)
        return bound, identifiers(defined)

    def seen_from(self, view: View) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return all names as a test sees them (empty if no cell has run), and those that were bound again in vain.

        Below the check of its own exercise, no name is bound again. Below that of an earlier one, no name is that its
        tests use, or that its answer binds and the answer to this exercise does not mention.
        """
        own_words = self._words.get(view.exercise, set())
        checks = {
            name: check
            for earlier, check in view.checks.items()
            for name in self._bound.get(earlier, set()) - own_words
        }
        checks |= view.checks_of_names
        names: dict[str, Any] = {}
        again = set[str]()
        blank: set[str] = set()
        for earlier, changes in sorted(self._changes.items()):
            if earlier > view.place:
                break
            names |= changes.counted
            blank = blank - changes.counted.keys() | changes.blank
            for name, item in changes.rebound.items():
                is_below = view.check is not None and earlier > view.check or earlier > checks.get(name, earlier)
                if is_below and names.get(name, UNBOUND) is not UNBOUND and name not in blank:
                    again.add(name)
                else:
                    names[name] = item
        names = {name: item for name, item in names.items() if item is not UNBOUND}
        return names, {name: names[name] for name in again & names.keys()}

    def _is_definition(self, name: str, item: Any, namespace: dict[str, Any], before: dict[str, Any]) -> bool:
        """Return whether a new value is what `def` or `class` made of this name in a cell of the student's own."""
        with suppress(Exception):  # a metaclass of the student's may refuse everything
            for _ in range(MAX_DECORATORS):
                if isinstance(item, FunctionType | _lru_cache_wrapper) and "__wrapped__" in vars(item):
                    item = vars(item)["__wrapped__"]
            if isinstance(item, FunctionType):
                is_own = item.__globals__ is namespace and item.__code__.co_filename not in self._instructors_files
                return is_own and item.__name__ == name
            if isinstance(item, type):
                is_new = all(item is not known for known in before.values())
                return is_new and item.__module__ == namespace.get("__name__") and item.__name__ == name
        return False


def identifiers(names: Iterable[str]) -> list[str]:
    """Return the names that a cell can spell; code may put others, and other types, into its namespace."""
    spelled = (name for name in names if isinstance(name, str) and name.isidentifier() and len(name) <= MAX_LINE)
    return [name for name in spelled if not HISTORY.fullmatch(name)][:MAX_BOUND]
