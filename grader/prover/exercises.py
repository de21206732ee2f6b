"""Cuts a source notebook to what one exercise needs, so that its answers are graded by its own tests alone."""

import copy
from typing import TYPE_CHECKING

from grader.notebook.cells import CellType, exercise_names, exercise_of, grade_id, type_of

if TYPE_CHECKING:
    from nbformat import NotebookNode


def reference(notebook: "NotebookNode", exercise: str) -> str:
    """Return the answer that a source notebook gives to an exercise."""
    return next(str(cell.source) for cell in notebook.cells if grade_id(cell) == exercise)


def own_tests(notebook: "NotebookNode", exercise: str) -> list[str]:
    """Return the tests of an exercise that give points, in order: its visible checks and its hidden tests."""
    names = exercise_names(notebook)
    return [
        grade_id(cell) or ""
        for cell in notebook.cells
        if _is_test_of(cell, exercise, names) and cell.metadata.nbgrader.points
    ]


def alone(notebook: "NotebookNode", exercise: str) -> "NotebookNode":
    """Return a source up to the last test of an exercise, without other tests and without worked examples.

    A wrong answer must be found by the tests of its own exercise. The cells are those of the source, not copies.
    """
    names = exercise_names(notebook)
    own = [number for number, cell in enumerate(notebook.cells) if _is_test_of(cell, exercise, names)]
    cut = copy.copy(notebook)
    cut.cells = [
        cell
        for number, cell in enumerate(notebook.cells[: max(own, default=-1) + 1])
        if number in own or type_of(cell) in (CellType.READ_ONLY, CellType.AUTOGRADED_ANSWER)
    ]
    return cut


def with_answer(notebook: "NotebookNode", exercise: str, answer: str) -> "NotebookNode":
    """Return a notebook with another answer to an exercise; all other cells are shared with the original."""
    cells = [
        type(cell)(cell, source=answer)
        if type_of(cell) is CellType.AUTOGRADED_ANSWER and grade_id(cell) == exercise
        else cell
        for cell in notebook.cells
    ]
    return type(notebook)(notebook, cells=cells)


def _is_test_of(cell: "NotebookNode", exercise: str, names: list[str]) -> bool:
    return type_of(cell) is CellType.TEST and exercise_of(grade_id(cell) or "", names) == exercise
