"""Claims notebook format 999, which does not exist.

The grader reports that it is not a notebook.
"""

import nbformat
from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return nbformat.writes(released).encode().replace(b'"nbformat": 4', b'"nbformat": 999')
