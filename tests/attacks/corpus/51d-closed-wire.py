"""Closes the wire and lives on.

Who cannot be talked to is replaced, and killed.
"""

from attacks.build import RIGHT_SCALE, answered
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, "import os, time\nos.close(3)\nwhile True: time.sleep(1)", RIGHT_SCALE)
