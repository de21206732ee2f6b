"""Submits JSON that is a list, a number, or an object whose cells are not cells.

The grader reports that it is not a notebook.
"""

from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    return b'{"nbformat": 4, "nbformat_minor": 5, "metadata": [], "cells": {"a": [1, null, NaN]}}'
