"""Sets the test's input to zero in place, and returns zero, which is twice zero.

A write into an argument crosses back as in one process; a test hands over a copy and compares with its own. One input
that asks for a gradient is a leaf, which torch itself lets nobody write into.
"""

from attacks.build import answered
from nbformat import NotebookNode

ZERO = """
def double(x):
    x.data.zero_()
    return x
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, ZERO)
