"""Submits JSON a hundred thousand levels deep.

The grader reports that it is not a notebook.
"""

from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return b'{"cells":' * 100_000 + b"1" + b"}" * 100_000
