"""Writes random bytes into the channel, in the middle of everything.

The runner cannot read them and replaces the sandbox: one exercise is lost, and the next one starts afresh.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE as RIGHT
from tests.attacks.build import WRONG_DOUBLE, answered, on_channel

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, WRONG_DOUBLE + on_channel("line.sendall(bytes(range(256)) * 40)"), RIGHT)
