"""Ends itself by a real-time signal, which has no name to be reported by.

A signal without a name is reported by its number.
"""

from attacks.build import RIGHT_SCALE, answered
from nbformat import NotebookNode

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, "import os\nos.kill(os.getpid(), 40)", RIGHT_SCALE)
