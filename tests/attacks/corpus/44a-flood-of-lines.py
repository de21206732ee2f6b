"""Prints for ever, and goes on when it is told to stop.

What is printed is counted; beyond the limit nothing is kept, and the cell ends at its time limit.
"""

from attacks.build import instead
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        while True:
            try:
                print("flood " * 1000)
            except BaseException:
                pass
        """,
    )
