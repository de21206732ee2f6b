"""Closes the channel and lives on.

The runner replaces a sandbox that does not answer, and the parent kills it.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE, answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, "import os, time\nos.close(3)\nwhile True: time.sleep(1)", RIGHT_SCALE)
