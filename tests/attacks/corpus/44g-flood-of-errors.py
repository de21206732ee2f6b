"""Ends three hundred cells with an error of two thousand characters each.

Errors are outputs like any other. The message that there is no more room appears once, not below every cell.
"""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from tests.attacks.build import answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = answered(released)
    hostile.cells += [new_code_cell("raise ValueError('x' * 2_000)") for _ in range(300)]
    return hostile
