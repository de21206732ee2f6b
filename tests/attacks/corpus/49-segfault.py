"""Reads address 0, when the cell runs and when the test calls.

The process that dies is the student's own.
"""

from attacks.build import RIGHT_SCALE, answered
from nbformat import NotebookNode

EARNS = 5

CRASH = """
import ctypes

def double(x):
    return ctypes.string_at(0)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, CRASH, RIGHT_SCALE)
