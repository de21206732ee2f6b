"""Writes a cell of forty thousand blank lines, which take a highlighter time quadratic in their number.

The feedback page is not highlighted this way, but the formgrader's server once hung for minutes.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return appended(answered(released), code="x = 1\n" + "   \n" * 40_000 + "x")
