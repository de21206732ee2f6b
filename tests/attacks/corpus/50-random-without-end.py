"""Reads /dev/urandom and /dev/zero to their ends, which they do not have.

A call that never returns is ended at the cell's time limit.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        for device in ("/dev/random", "/dev/zero", "/dev/urandom"):
            try:
                with open(device, "rb") as file:
                    while file.read(2**20):
                        pass
            except OSError:
                pass
        """,
    )
