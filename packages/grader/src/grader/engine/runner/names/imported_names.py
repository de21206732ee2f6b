"""Binds the names that the source imports where a test needs them: the runner runs none of the cells that import them.

name that a cell in the runner uses --imports of the source--> object of the runner's own

Only the imports of the names that a cell uses run, each by itself: one that fails costs only its own names.
"""

import os
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

from grader.engine.notebook.source_names import Import, SourceNames


class ImportedNames:
    """The names that the cells of one source import, apart from those that they define as well.

    Args:
        source: what the cells of the source say about names.
    """

    def __init__(self, source: SourceNames) -> None:
        self._source = source
        sys.path += map(os.path.abspath, source.paths)  # working_folder restores it
        self._done: dict[str, dict[str, Any]] = {}
        """The names that the imports bound which have run, by their code."""

    def bound(self, wanted: Iterable[str], cell: str, *, with_later: bool = False) -> dict[str, Any]:
        """Return what the imports above a cell bind to names, without those that none binds.

        Args:
            wanted: the names.
            cell: the grade_id of the cell.
            with_later: whether the imports below the cell count for names that none above it binds.
        """
        number = self._source.above.get(cell, len(self._source.imports))
        parts = [self._source.imports[:number], *([self._source.imports[number:]] if with_later else [])]
        found: dict[str, Any] = {}
        for name in wanted:
            if name not in self._source.defined:
                found |= next(filter(None, (self._bound(name, part) for part in parts)), {})
        return found

    def answered(self, names: Collection[str]) -> set[str]:
        """Return those of the names that only answers import: a test of nothing else judges the import itself."""
        others = [each for each in self._source.imports if not each.is_answer]
        return {name for name in names if not self._bound(name, others)}

    def _bound(self, name: str, imports: Sequence[Import]) -> dict[str, Any]:
        """Return the value of a name after imports, of which the last one counts; {} if none binds it."""
        found: dict[str, Any] = {}
        for each in imports:
            if (name in each.names or not each.names) and not (each.is_fallback and found):
                names = self._run(each)
                found = {name: names[name]} if name in names else found
        return found

    def _run(self, each: Import) -> dict[str, Any]:
        """Return the names that an import binds; {} if it fails."""
        if each.code not in self._done:
            names: dict[str, Any] = {}
            with suppress(Exception, SystemExit):
                exec(each.code, names)
            names.pop("__builtins__", None)
            self._done[each.code] = names
        return self._done[each.code]
