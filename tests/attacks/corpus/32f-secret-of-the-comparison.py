"""Returns zero, so that a test's comparison says how far that is from what it expected.

The words of a library's own assertion in a hidden test are not shown, only those the test's author wrote.
"""

from attacks.build import WRONG_DOUBLE, answered
from nbformat import NotebookNode


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, WRONG_DOUBLE)
