"""Raises an error whose text is the hidden test's input.

For an error in a hidden test, the student reads the built-in class and the place in their own code, nothing else.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

TELL = """
def double(x):
    raise ValueError(f"the input is {x.tolist()}")
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, TELL)
