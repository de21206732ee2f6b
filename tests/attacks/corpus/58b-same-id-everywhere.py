"""Gives all cells the same id, and odd types to all that nbgrader notes of them.

Ids are made anew, and notes are taken from the source.
"""

from attacks.build import answered
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    for cell in hostile.cells:
        cell["id"] = "same"
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader.update(grade="x", solution=[], locked={}, points="1000", schema_version=-1)
        else:
            cell.metadata["nbgrader"] = [1, {"grade_id": "double"}]
    return hostile
