"""Raises errors whose text cannot be had: __str__ raises or exits.

The grader says that the message cannot be shown.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE, answered

EARNS = 5

ERROR = """
class Mute(Exception):
    def __str__(self):
        raise SystemExit(0)
    __repr__ = __str__

def double(x):
    raise Mute
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, ERROR, RIGHT_SCALE)
