"""Hands in JSON a hundred thousand levels deep.

It is reported as no notebook.
"""

from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return b'{"cells":' * 100_000 + b"1" + b"}" * 100_000
