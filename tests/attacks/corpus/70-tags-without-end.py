"""Answers a question in 17 kB with a thousand open tags, each of which HTML repeats in each of a thousand paragraphs.

Formatting tags keep no attributes, and HTML repeats at most three that are equal; deeper nesting is shown as text.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered
from tests.support.notebooks import cell

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    notebook = answered(released)
    cell(notebook, "question").source = "".join(f"<b title={n}>" for n in range(1000)) + "<p>x" * 1000
    return notebook
