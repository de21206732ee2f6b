"""Submits hundreds of cells, each of which ends its process and so costs a fresh sandbox.

The time limit of the notebook ends that; earlier points stay.
"""

import copy

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from tests.attacks.build import answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    hostile = copy.deepcopy(answered(released))
    hostile.cells += [new_code_cell("import os\nos._exit(0)", id=f"c{number}") for number in range(400)]
    return hostile
