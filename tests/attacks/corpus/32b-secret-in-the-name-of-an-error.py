"""Raises an error whose class is named after the hidden test's input.

Messages name only built-in classes of errors.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

TELL = """
def double(x):
    name = "".join(c if c.isalnum() else "_" for c in str(x.tolist()))
    raise type(name, (ValueError,), {"__str__": lambda self: name, "__qualname__": name})()
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, TELL)
