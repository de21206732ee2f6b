"""Prints for ever, and goes on after an exception tells it to stop.

Output is counted; beyond the limit nothing is kept, and the cell ends at its time limit.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

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
