"""Hands in bytes that are no UTF-8.

They are reported as no notebook.
"""

import nbformat
from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return nbformat.writes(released).encode().replace(b"def double", b"\xff\xfe\x80 double")
