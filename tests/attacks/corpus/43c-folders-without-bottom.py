"""Nests folders thousands deep and takes away all rights to them, so that cleaning up fails.

Cleaning up moves each folder to the top before it looks inside.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        import os
        os.mkdir("locked", 0)
        for _ in range(4000):
            os.mkdir("d")
            os.chdir("d")
        open("file", "w").close()
        """,
    )
