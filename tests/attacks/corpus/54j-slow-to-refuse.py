"""Gives a cell a hundred thousand tags that the notebook format forbids.

A validator that looks for the best message compares each tag with each, for hours. The grader asks only whether
something is wrong; then it takes the texts and leaves the rest.
"""

from nbformat import NotebookNode

from tests.attacks.build import BLANK, RIGHT_DOUBLE, answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    notebook = answered(released, RIGHT_DOUBLE, BLANK)
    notebook.cells[0].metadata["tags"] = [{"a": number} for number in range(100_000)]
    return notebook
