"""Notebooks as grading sees them: what kind each cell is of, and which exercise a test belongs to."""

import copy
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The fork server reads no notebook, and nbformat takes long to load.
    from nbformat import NotebookNode

HIDDEN = "BEGIN HIDDEN TESTS"
EXPERIMENT = "experiment"
CANDIDATE = "candidate"
WITHOUT = "without:"
FORMS = ("text/html", "image/png", "image/jpeg", "text/plain")
"""The forms of an output that a page shows, the most telling first."""


class Kind(Enum):
    """nbgrader's cell types, as they decide where a cell runs."""

    TEST = "test"  # the examiner runs it
    READ_ONLY = "read-only"  # both run it
    ANSWER = "answer"  # the candidate runs it
    WRITTEN = "written"  # a person marks it
    FREE = "free"  # unmarked: the candidate runs it if it is code


def grade_id(cell: "NotebookNode") -> str | None:
    """The cell's name in nbgrader, or None for a cell nbgrader does not know."""
    marks = cell.metadata.get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) and name else None


def kind(cell: "NotebookNode") -> Kind:
    """The kind of a cell, from nbgrader's metadata."""
    if grade_id(cell) is None:
        return Kind.FREE
    marks = cell.metadata["nbgrader"]
    match bool(marks.get("grade")), bool(marks.get("solution")):
        case True, True:
            return Kind.WRITTEN
        case True, False:
            return Kind.TEST
        case False, True:
            return Kind.ANSWER
    return Kind.READ_ONLY if marks.get("locked") else Kind.FREE


def is_experiment(cell: "NotebookNode") -> bool:
    """Whether a cell is a training run or figure that no test depends on."""
    return kind(cell) is Kind.FREE and EXPERIMENT in cell.metadata.get("tags", ())


def is_for_candidate(cell: "NotebookNode") -> bool:
    """Whether a read-only cell runs only where the student's code runs: a training loop of ours, say.

    It would call the student's model hundreds of times over the wire; a test calls it once. What comes back is to be
    trusted as little as all that comes from there.
    """
    return kind(cell) is Kind.READ_ONLY and CANDIDATE in cell.metadata.get("tags", ())


def refused(cell: "NotebookNode") -> tuple[str, ...]:
    """The functions of torch that an answer cell is to do without: they do what the exercise is to write."""
    return tuple(tag.removeprefix(WITHOUT) for tag in cell.metadata.get("tags", ()) if tag.startswith(WITHOUT))


def with_answer(notebook: "NotebookNode", exercise: str, answer: str) -> "NotebookNode":
    """A copy of `notebook` in which the answer cell `exercise` reads `answer`; raises KeyError where there is none."""
    twin = copy.deepcopy(notebook)
    for cell in twin.cells:
        if grade_id(cell) == exercise:
            cell.source = answer
            return twin
    raise KeyError(f"no cell is called {exercise}")


def exercise_of(test: str, exercises: list[str]) -> str:
    """The answer cell that a test belongs to: `x-check` and `x-test-what` belong to `x`."""
    own = [name for name in exercises if test.startswith((f"{name}-check", f"{name}-test-"))]
    return max(own, key=len, default=test)
