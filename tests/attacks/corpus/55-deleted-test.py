"""Deletes the cells of tests that it fails.

They are put back.
"""

from attacks.build import answered
from nbformat import NotebookNode

from course.grading.notebook import Kind, kind

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    hostile.cells = [cell for cell in hostile.cells if kind(cell) is not Kind.TEST]
    return hostile
