"""Deletes the cells of tests that it fails.

The grader restores them from the source.
"""

from nbformat import NotebookNode

from grader.engine.notebook.cells import CellType, type_of
from tests.attacks.build import answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    hostile.cells = [cell for cell in hostile.cells if type_of(cell) is not CellType.TEST]
    return hostile
