"""Raises errors whose text cannot be had: __str__ raises, exits, or never ends; the class has no name.

What cannot be told is left out, and what never ends is ended.
"""

from attacks.build import RIGHT_SCALE, answered
from nbformat import NotebookNode

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
