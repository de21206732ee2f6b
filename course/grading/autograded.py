"""The autograded notebook: the repaired submission with the outputs that grading gave it, as nbgrader expects it."""

import copy
from typing import Any

from nbformat import NotebookNode, from_dict
from nbgrader.utils import compute_checksum

from course.grading import sanitize
from course.grading.notebook import Kind, grade_id, kind
from course.grading.patience import OutOfPatience, at_most
from course.grading.report import Report

OUTPUT_SECONDS = 5
"""Of computing, for making the outputs of a notebook harmless, which mostly takes none."""


def autograded(repaired: NotebookNode, report: Report, checksums: dict[str, str | None]) -> NotebookNode:
    """A copy of `repaired` with the outputs of `report`; `checksums` are those of the released cells, by grade_id."""
    notebook = NotebookNode(repaired)
    notebook.cells = []
    outputs = _harmless(report.outputs)
    for index, theirs in enumerate(repaired.cells):
        # Only what is changed is copied: to copy a whole notebook takes as long as to grade an exercise.
        cell = NotebookNode(theirs)
        if (name := grade_id(cell)) is not None:
            cell.metadata = copy.deepcopy(cell.metadata)
            cell.metadata.nbgrader["checksum"] = checksums.get(name)
        if cell.cell_type == "code":
            cell.outputs = [from_dict(output) for output in outputs.get(index, [])]
        notebook.cells.append(cell)
    return notebook


def _harmless(outputs: dict[int, list[dict[str, Any]]]) -> dict[int, list[dict[str, Any]]]:
    """The outputs of each cell without what a browser would run; their HTML as text where that takes too long."""
    try:
        with at_most(OUTPUT_SECONDS):
            return {index: sanitize.outputs(some) for index, some in outputs.items()}
    except OutOfPatience:
        return {index: sanitize.outputs(some, render=sanitize.as_it_is) for index, some in outputs.items()}


def repeated(notebook: NotebookNode, before: NotebookNode) -> set[str]:
    """The written answers of an autograded notebook that say what they said in the one `before`."""
    return {name for name, _ in _written(notebook).items() & _written(before).items()}


def _written(notebook: NotebookNode) -> dict[str, str]:
    return {grade_id(cell): cell.source for cell in notebook.cells if kind(cell) is Kind.WRITTEN}


def unanswered(notebook: NotebookNode) -> set[str]:
    """The answers of an autograded notebook that are still as they were released."""
    return {
        name
        for cell in notebook.cells
        if (name := grade_id(cell)) is not None
        and kind(cell) in (Kind.ANSWER, Kind.WRITTEN)
        and cell.metadata.nbgrader["checksum"] == compute_checksum(cell)
    }
