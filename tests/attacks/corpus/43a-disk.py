"""Fills the disk: file after file, each as large as possible, for ever.

The parent looks at the working folder while it waits, and ends a process that fills it.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

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
