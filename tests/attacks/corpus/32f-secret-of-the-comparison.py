"""Returns zero, so that a test's comparison says how far zero is from the expected value.

For a hidden test, the student reads the author's own message, never a library's.
"""

from nbformat import NotebookNode

from tests.attacks.build import WRONG_DOUBLE, answered


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, WRONG_DOUBLE)
