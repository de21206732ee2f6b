"""Sleeps, which takes no CPU time: in the cell and, after the cells ran again, in the test.

The limits are wall time.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(released, "import time\ntime.sleep(10**6)")
