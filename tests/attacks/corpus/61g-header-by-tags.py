"""Gives a cell tags that are classes of the page: its output lies over the header, with a score of its own.

A tag becomes a class of its cell, and one with spaces becomes several. Of a student's own cells one tag is kept, the
one that says something.
"""

from attacks.build import answered, appended
from nbformat import NotebookNode

EARNS = 5

HEADER = """
from IPython.display import HTML
HTML("<p>exercises (Score: 10.0 / 10.0)</p>")
"""


def submission(released: NotebookNode) -> NotebookNode:
    hostile = appended(answered(released), HEADER)
    hostile.cells[-1].metadata["tags"] = ["x navbar-fixed-top panel-heading full-credit", "full-credit"]
    return hostile
