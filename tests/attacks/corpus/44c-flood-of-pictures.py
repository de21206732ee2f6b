"""Displays pictures and HTML, each just short enough to be shown, until the reply is too large to send.

All outputs of a notebook count together, and the runner counts, too.
"""

from nbformat import NotebookNode

from tests.attacks.build import instead

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
