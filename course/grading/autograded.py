"""The autograded notebook: the repaired submission with the outputs that grading gave it, as nbgrader expects it."""

import copy

from nbformat import NotebookNode, from_dict
from nbgrader.utils import compute_checksum

from course.grading import sanitize
from course.grading.notebook import Kind, grade_id, kind
from course.grading.report import Report


def autograded(repaired: NotebookNode, report: Report, checksums: dict[str, str | None]) -> NotebookNode:
    """A copy of `repaired` with the outputs of `report`; `checksums` are those of the released cells, by grade_id."""
    notebook = NotebookNode(repaired)
    notebook.cells = []
    for index, theirs in enumerate(repaired.cells):
        # Only what is changed is copied: to copy a whole notebook takes as long as to grade an exercise.
        cell = NotebookNode(theirs)
        if (name := grade_id(cell)) is not None:
            cell.metadata = copy.deepcopy(cell.metadata)
            cell.metadata.nbgrader["checksum"] = checksums.get(name)
        if cell.cell_type == "code":
            cell.outputs = [from_dict(output) for output in sanitize.outputs(report.outputs.get(index, []))]
        notebook.cells.append(cell)
    return notebook


def unanswered(notebook: NotebookNode) -> set[str]:
    """The answers of an autograded notebook that are still as they were released."""
    return {
        name
        for cell in notebook.cells
        if (name := grade_id(cell)) is not None
        and kind(cell) in (Kind.ANSWER, Kind.WRITTEN)
        and cell.metadata.nbgrader["checksum"] == compute_checksum(cell)
    }
