"""Strips all metadata, so that no cell shows what it is.

The cells run as the student's own, and the grader restores the tests after them.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    for cell in hostile.cells:
        cell.metadata = {}
    return hostile
