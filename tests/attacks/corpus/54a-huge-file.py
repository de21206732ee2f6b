"""Submits a file that is larger than the grader reads.

The grader checks the size before it reads a file.
"""

from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return b'{"cells": [' + b" " * 21 * 2**20 + b"]}"
