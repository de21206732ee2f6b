"""Gives everything names and messages a million characters long: classes, errors, cells, tags, assertions.

The grader cuts each of them as soon as it takes it over.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended

LONG = """
def double(x):
    raise type("N" * 10**6, (ValueError,), {})("m" * 10**6)
"""
SCALE = """
Scale = type("N" * 10**6, (), {"__call__": 5, "__repr__": lambda self: "r" * 10**7})
raise ValueError("m" * 10**7)
"""


def submission(released: NotebookNode) -> NotebookNode:
    hostile = appended(answered(released, LONG, SCALE), "Scale()")
    hostile.cells[-1].metadata["tags"] = ["t" * 10_000]
    return hostile
