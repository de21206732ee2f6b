"""Gives a cell tags that are classes of the page: its output covers the header, with a score of its own.

A tag becomes a class of its cell, and one with spaces becomes several. In a student's own cell the grader keeps at most
the one tag that has a meaning.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered, appended

EARNS = 5

HEADER = """
from IPython.display import HTML
HTML("<p>exercises (Score: 10.0 / 10.0)</p>")
"""


def submission(released: NotebookNode) -> NotebookNode:
    hostile = appended(answered(released), HEADER)
    hostile.cells[-1].metadata["tags"] = ["x navbar-fixed-top panel-heading full-credit", "full-credit"]
    return hostile
