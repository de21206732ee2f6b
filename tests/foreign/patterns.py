"""Reads the census: what tests in courses of others do, each with a right and a wrong answer.

census/*.txt --read--> Pattern --cells--> a notebook with nbgrader's own ids

A file holds patterns one below the other: `# %% WHAT` and a right answer, `# %% test` and a test cell, `# %% wrong` and
an answer that must fail. A test that works only inside the process of the student's code is marked
`# %% test together`.
"""

import hashlib
import re
from dataclasses import dataclass

from nbformat import NotebookNode

from tests.support.notebooks import answer, check, notebook
from tests.support.paths import REPOSITORY

CENSUS = REPOSITORY / "tests/foreign/census"
CELL = re.compile(r"^# %% (.+)\n", re.MULTILINE)
TEST = re.compile(r"test( together)?")


@dataclass(frozen=True)
class Pattern:
    """One way to test: the right answer, the test cell, a wrong answer, and whether it needs the tag `together`."""

    name: str
    right: str
    test: str
    wrong: str
    needs_together: bool

    def cells(self, answered: str, *tags: str) -> list[NotebookNode]:
        """Return an answer cell with this text, and the test cell with these tags."""
        test = check(_default_id(self.name), self.test)
        test.metadata["tags"] = list(tags)
        return [answer(_default_id(f"answer to {self.name}"), answered), test]

    def notebook(self, answered: str, *tags: str) -> NotebookNode:
        """Return a notebook of these two cells."""
        return notebook(*self.cells(answered, *tags))


def patterns() -> list[Pattern]:
    """Return the census."""
    found = []
    for file in sorted(CENSUS.glob("*.txt")):
        _, *parts = CELL.split(file.read_text())
        cells = [(title, code.strip()) for title, code in zip(parts[::2], parts[1::2], strict=True)]
        for (name, right), (test, checked), (_, wrong) in zip(cells[::3], cells[1::3], cells[2::3], strict=True):
            found.append(Pattern(name, right, checked, wrong, TEST.fullmatch(test)[1] is not None))
    return found


def _default_id(name: str) -> str:
    """Return an id as nbgrader gives to a cell whose author chose none."""
    return f"cell-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
