"""Adds an IPython input transformer that turns every cell into `pass`.

The transformer changes only the student's own cells: the tests run elsewhere, without IPython.
"""

from nbformat import NotebookNode

from tests.attacks.build import first

STARRED = True


def submission(released: NotebookNode) -> NotebookNode:
    return first(released, "get_ipython().input_transformers_post.append(lambda lines: ['pass\\n'])")
