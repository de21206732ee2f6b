"""Hands in hundreds of cells, each of which ends its process and so costs a fresh one and a replay.

The time for the notebook ends that; what was earned before stays earned.
"""

import copy

from attacks.build import answered
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = copy.deepcopy(answered(released))
    hostile.cells += [new_code_cell("import os\nos._exit(0)", id=f"c{number}") for number in range(400)]
    return hostile
