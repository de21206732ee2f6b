"""Calls sys.exit(0) in the answer and in the function that the test calls, before any assert can run.

SystemExit in student code is an error like any other.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

EXIT = """
import sys

def double(x):
    sys.exit(0)
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, EXIT, "raise SystemExit(0)")
