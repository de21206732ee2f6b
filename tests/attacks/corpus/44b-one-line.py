"""Prints one line of a hundred million characters, in the cell and in the function that tests call.

A single line also counts against the limit of all output.
"""

from nbformat import NotebookNode

from tests.attacks.build import WRONG_SCALE, answered

PRINT = """
def double(x):
    print("x" * 10**8)
    return 2 * x
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, PRINT, WRONG_SCALE + "print('x' * 10**8)")
