"""Sleeps, which takes no CPU time: in the cell and, after a replay, in the test.

Limits are of wall time.
"""

from attacks.build import instead
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(released, "import time\ntime.sleep(10**6)")
