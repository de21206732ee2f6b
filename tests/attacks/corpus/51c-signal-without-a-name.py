"""Ends itself by a real-time signal, which has no name for a message.

The grader reports a signal without a name by its number.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE, answered

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, "import os\nos.kill(os.getpid(), 40)", RIGHT_SCALE)
