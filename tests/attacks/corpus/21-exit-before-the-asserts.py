"""Calls sys.exit(0) in the answer and in the function that the test calls, before any assert can run.

SystemExit of student code is an error like any other.
"""

from attacks.build import answered
from nbformat import NotebookNode

EXIT = """
import sys

def double(x):
    sys.exit(0)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, EXIT, "raise SystemExit(0)")
