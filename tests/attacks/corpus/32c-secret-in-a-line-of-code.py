"""Raises from code made on the spot, whose name and whose line are the hidden test's input.

The grader quotes the line from the submitted cell, and names no other place.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

TELL = """
import linecache

def double(x):
    secret = str(x.tolist())
    for name in (f"<{secret}>", "<double>"):
        source = f"raise ValueError  # {secret}"
        linecache.cache[name] = (len(source), None, [source], name)
        exec(compile(source, name, "exec"))
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, TELL)
