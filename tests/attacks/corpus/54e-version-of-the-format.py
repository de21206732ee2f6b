"""Claims to be written in notebook format 999, which nobody can read.

It is reported as no notebook.
"""

import nbformat
from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return nbformat.writes(released).encode().replace(b'"nbformat": 4', b'"nbformat": 999')
