"""Announces a message of four gigabytes, and then one that never comes.

Lengths are bounded before memory is taken for them.
"""

from attacks.build import RIGHT_SCALE as RIGHT
from attacks.build import WRONG_DOUBLE, answered, wire
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, WRONG_DOUBLE + wire('line.sendall(struct.pack(">II", 2**32 - 1, 2**32 - 1))'), RIGHT)
