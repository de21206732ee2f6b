"""Gives all cells the same id, and odd types to everything that nbgrader stores about them.

The grader makes new ids, and takes nbgrader's metadata from the source.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

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
