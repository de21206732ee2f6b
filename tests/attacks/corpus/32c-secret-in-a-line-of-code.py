"""Raises from code made on the spot, whose name and whose line are the hidden test's input.

The line that is shown is looked up in the cell as it was handed in; other places are not named.
"""

from attacks.build import answered
from nbformat import NotebookNode

TELL = """
import linecache

def double(x):
    said = str(x.tolist())
    for name in (f"<{said}>", "<double>"):
        source = f"raise ValueError  # {said}"
        linecache.cache[name] = (len(source), None, [source], name)
        exec(compile(source, name, "exec"))
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, TELL)
