"""Prints, shows and raises half a surrogate pair.

The sandbox replaces it in every output, and the runner refuses a message that holds one.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_DOUBLE, answered

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
