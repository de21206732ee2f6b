"""Finds the names that a cell reads and binds, and keeps the objects that cells bound."""

import symtable
from functools import lru_cache
from typing import Any, NamedTuple

from grader.engine.notebook.magics import code_in_magics


class View(NamedTuple):
    """The position from which a test sees the student's names. A place is the number of tests above a cell.

    Args:
        place: the place of the test.
        check: that of the check of its exercise; None if the test is one.
        exercise: its exercise.
        checks_of_names: the places of the checks of earlier exercises, by the names that their tests use.
        checks: the same places, by exercise.
    """

    place: int
    check: int | None
    exercise: str
    checks_of_names: dict[str, int]
    checks: dict[str, int]


@lru_cache(maxsize=1024)
def names_used(source: str) -> list[str]:
    """Return the names that a cell, or a function in it, reads and that the cell does not bind itself."""
    top = symtable.symtable(source, "<test>", "exec")
    read: set[str] = set()
    tables = [top]
    for table in tables:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                read.add(symbol.get_name())
        tables += table.get_children()
    for code in code_in_magics(source):
        read.update(names_used(code))
    return sorted(read - names_bound(source))


@lru_cache(maxsize=1024)
def names_bound(source: str) -> frozenset[str]:
    """Return the names that a cell binds for later cells."""
    symbols = symtable.symtable(source, "<test>", "exec").get_symbols()
    own = (symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported())
    return frozenset(own).union(*map(names_bound, code_in_magics(source)))


@lru_cache(maxsize=1024)
def names_assigned(source: str) -> frozenset[str]:
    """Return the names that a cell binds by anything but an import, or deletes."""
    symbols = symtable.symtable(source, "<test>", "exec").get_symbols()
    return frozenset(symbol.get_name() for symbol in symbols if symbol.is_assigned())


class Namespace:
    """The names that cells bind. The changes of each step are kept, so that a later pass can repeat them."""

    def __init__(self) -> None:
        self._changes: dict[int, dict[str, Any]] = {}
        self.rewind()

    def rewind(self) -> None:
        """Forget all names, as before the first step."""
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self._before: dict[str, Any] = {}

    def keep(self, wanted: set[str]) -> None:
        """Drop the names that the last cell bound and that are not in `wanted`."""
        for name in [name for name in self.names if name not in wanted and name not in self._before]:
            del self.names[name]

    def mark(self, step: int) -> None:
        """Record all changes since the last mark as those of `step`."""
        self._changes[step] = {name: item for name, item in self.names.items() if self._before.get(name) is not item}
        self._before = dict(self.names)

    def redo(self, step: int) -> None:
        """Restore the names that `step` bound in the visible pass, in which hidden tests do not run."""
        self.names.update(self._changes[step])
        self._before = dict(self.names)
