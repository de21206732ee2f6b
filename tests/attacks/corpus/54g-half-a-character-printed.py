"""Prints, shows and raises half a surrogate pair.

It is replaced where outputs are put together.
"""

from attacks.build import RIGHT_DOUBLE, answered
from nbformat import NotebookNode

EARNS = 5

PRINT = """
print("\\ud800")
display("\\ud800", {"\\ud800": "\\ud800"})
raise ValueError("\\ud800")
"""
SCALE = """
def Scale(d):
    raise ValueError("\\ud800 \\x00 \\x1b[2J")
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, RIGHT_DOUBLE + PRINT, SCALE)
