"""Reads address 0, when the cell runs and when the test calls.

Only the student process dies.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE, answered

EARNS = 5

CRASH = """
import ctypes

def double(x):
    return ctypes.string_at(0)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, CRASH, RIGHT_SCALE)
