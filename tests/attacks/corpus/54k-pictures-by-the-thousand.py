"""Pastes a hundred thousand empty pictures into a written answer of the greatest length.

The grader goes through the links of the text once, not once for each picture.
"""

from nbformat import NotebookNode

from tests.attacks.build import BLANK, RIGHT_DOUBLE, answered
from tests.support.notebooks import cell

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    notebook = answered(released, RIGHT_DOUBLE, BLANK)
    question = cell(notebook, "question")
    question.source = "(attachment:" * 80_000
    question.attachments = {f"{number:x}": {"image/png": ""} for number in range(100_000)}
    return notebook
