"""Calls os._exit(0) when the test calls, so that the process ends well and in silence.

It is the student's process that ends; its exercise is lost, the other is not.
"""

from attacks.build import RIGHT_SCALE, answered
from nbformat import NotebookNode

EARNS = 5

EXIT = """
import os

def double(x):
    os._exit(0)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, EXIT, RIGHT_SCALE)
