"""Announces a message of four gigabytes that never comes.

The runner checks lengths before it allocates memory.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE as RIGHT
from tests.attacks.build import WRONG_DOUBLE, answered, on_channel

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    announce = on_channel('line.sendall(struct.pack(">II", 2**32 - 1, 2**32 - 1))')
    return answered(released, WRONG_DOUBLE + announce, RIGHT)
