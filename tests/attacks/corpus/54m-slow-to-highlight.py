"""Writes a cell of forty thousand blank lines, which take a highlighter time by the square of their number.

The page of feedback had long been spared; the formgrader's server answered nobody for minutes.
"""

from attacks.build import answered, appended
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return appended(answered(released), code="x = 1\n" + "   \n" * 40_000 + "x")
