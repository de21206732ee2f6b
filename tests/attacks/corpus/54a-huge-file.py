"""Hands in a file larger than any that is read.

Its size is looked at before it is read.
"""

from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return b'{"cells": [' + b" " * 21 * 2**20 + b"]}"
