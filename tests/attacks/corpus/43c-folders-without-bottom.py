"""Makes folders in folders, thousands deep and with no rights on them, so that cleaning up fails.

Cleaning up lifts each folder to the top before it looks inside.
"""

from attacks.build import instead
from nbformat import NotebookNode

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
