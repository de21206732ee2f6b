"""Submits bytes that are not UTF-8.

The grader reports that they are not a notebook.
"""

import nbformat
from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return nbformat.writes(released).encode().replace(b"def double", b"\xff\xfe\x80 double")
