"""Displays pictures and HTML, each just short enough to be shown, until the answer is too large to be sent.

All that a notebook shows counts together, and the examiner counts too.
"""

from attacks.build import instead
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        """
        from IPython.display import display
        for _ in range(400):
            display({"text/html": "x" * 60_000, "image/png": "A" * 60_000}, raw=True)
        """,
    )
