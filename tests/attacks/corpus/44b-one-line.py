"""Prints one line of a hundred million characters, in the cell and in the function that tests call.

One line is too long as soon as it is longer than all that may be printed.
"""

from attacks.build import WRONG_SCALE, answered
from nbformat import NotebookNode

PRINT = """
def double(x):
    print("x" * 10**8)
    return 2 * x
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, PRINT, WRONG_SCALE + "print('x' * 10**8)")
