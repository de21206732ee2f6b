"""Pastes a hundred thousand empty pictures into a written answer as long as may be.

The links of the text are gone through once, not once for each picture.
"""

from attacks.build import BLANK, RIGHT_DOUBLE, answered
from nbformat import NotebookNode
from notebooks import cell

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    notebook = answered(released, RIGHT_DOUBLE, BLANK)
    question = cell(notebook, "question")
    question.source = "(attachment:" * 80_000
    question.attachments = {f"{number:x}": {"image/png": ""} for number in range(100_000)}
    return notebook
