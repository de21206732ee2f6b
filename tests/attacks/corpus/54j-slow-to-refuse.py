"""Gives a cell a hundred thousand tags of a kind that the format of notebooks forbids.

Whoever looks for the best words for what is wrong compares each with each, for hours. Here it is only asked whether
something is wrong; then the texts are taken, and the rest is left.
"""

from attacks.build import BLANK, RIGHT_DOUBLE, answered
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    notebook = answered(released, RIGHT_DOUBLE, BLANK)
    notebook.cells[0].metadata["tags"] = [{"a": number} for number in range(100_000)]
    return notebook
