"""Writes random bytes onto the wire, in the middle of everything.

What cannot be read ends that candidate; the exercise is lost and the next one starts afresh.
"""

from attacks.build import RIGHT_SCALE as RIGHT
from attacks.build import WRONG_DOUBLE, answered, wire
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, WRONG_DOUBLE + wire("line.sendall(bytes(range(256)) * 40)"), RIGHT)
