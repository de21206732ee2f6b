"""Copies every cell, so that each name occurs twice: first the right answer twice, then the tests twice.

The first one counts; copies of answers become ordinary cells, copies of tests are left out.
"""

import copy

from nbformat import NotebookNode

from tests.attacks.build import answered

STARRED = True
EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    hostile.cells = [copied for cell in hostile.cells for copied in (cell, copy.deepcopy(cell))]
    return hostile
