"""Copies every cell, so that each name is there twice: first the right answer twice, then the tests twice.

The first counts; copies of answers become ordinary cells, copies of tests are left out.
"""

import copy

from attacks.build import answered
from nbformat import NotebookNode

STARRED = True
EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    hostile.cells = [copied for cell in hostile.cells for copied in (cell, copy.deepcopy(cell))]
    return hostile
