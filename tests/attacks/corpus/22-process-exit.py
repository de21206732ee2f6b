"""Calls os._exit(0) when the test calls, so that the process ends without an error or a message.

Only the student process ends; its exercise is lost, the other one is not.
"""

from nbformat import NotebookNode

from tests.attacks.build import RIGHT_SCALE, answered

EARNS = 5

EXIT = """
import os

def double(x):
    os._exit(0)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, EXIT, RIGHT_SCALE)
