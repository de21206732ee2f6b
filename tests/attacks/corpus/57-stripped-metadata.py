"""Strips all metadata, so that no cell is known for what it is.

Its cells run as the student's own, and the tests are put back behind them.
"""

from attacks.build import answered
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    for cell in hostile.cells:
        cell.metadata = {}
    return hostile
