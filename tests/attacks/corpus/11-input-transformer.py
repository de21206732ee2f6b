"""Adds an IPython input transformer that makes `pass` of every cell.

It acts on the student's own cells only: the tests run elsewhere, without IPython.
"""

from attacks.build import first
from nbformat import NotebookNode

STARRED = True


def submission(released: NotebookNode) -> NotebookNode:
    return first(released, "get_ipython().input_transformers_post.append(lambda lines: ['pass\\n'])")
