"""The names of test cells: which a cell asks of the student, and which one cell leaves to the next."""

import symtable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1024)
def names_used(source: str) -> list[str]:
    """The names that a cell takes from outside: what it or a function in it reads and the cell itself does not bind."""
    top = symtable.symtable(source, "<test>", "exec")
    read: set[str] = set()
    tables = [top]
    for table in tables:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                read.add(symbol.get_name())
        tables += table.get_children()
    return sorted(read - names_bound(source))


@lru_cache(maxsize=1024)
def names_bound(source: str) -> frozenset[str]:
    """The names that a cell leaves to those behind it."""
    symbols = symtable.symtable(source, "<test>", "exec").get_symbols()
    return frozenset(symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported())


class Namespace:
    """The names that cells bind. What each step changed is kept, so that the steps can be gone through once more."""

    def __init__(self) -> None:
        self._changes: dict[int, dict[str, Any]] = {}
        self.rewind()

    def rewind(self) -> None:
        """Forgets all names, as before the first step."""
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self._known: dict[str, Any] = {}

    def keep(self, wanted: set[str]) -> None:
        """Lets go of what the last cell bound and nobody reads any more."""
        for name in [name for name in self.names if name not in wanted and name not in self._known]:
            del self.names[name]

    def mark(self, step: int) -> None:
        """What has changed since the last mark was the doing of `step`."""
        self._changes[step] = {name: item for name, item in self.names.items() if self._known.get(name) is not item}
        self._known = dict(self.names)

    def redo(self, step: int) -> None:
        """Binds anew what `step` bound in the first round; a hidden test bound nothing in it."""
        self.names.update(self._changes[step])
        self._known = dict(self.names)
