"""Swaps the names of the two answers and of a test and a check, so that points count for other cells.

Names lead to the cells of the source; each name runs its own tests.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    pairs = {"double": "scale", "double-check": "scale-test-weight"}
    swaps = pairs | {right: left for left, right in pairs.items()}
    for cell in hostile.cells:
        marks = cell.metadata.get("nbgrader", {})
        marks["grade_id"] = swaps.get(marks.get("grade_id"), marks.get("grade_id"))
    return hostile
