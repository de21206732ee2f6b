"""Raises an error whose text is the hidden test's input.

Of an error in a hidden test the student is told the built-in kind and the place in their own code, nothing else.
"""

from attacks.build import answered
from nbformat import NotebookNode

TELL = """
def double(x):
    raise ValueError(f"the input is {x.tolist()}")
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, TELL)
