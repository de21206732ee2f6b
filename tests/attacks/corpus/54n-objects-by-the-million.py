"""Submits a notebook of 19.5 MB that is made of empty objects, each of which takes 180 times its size when parsed.

The grader counts what parsing may cost before it parses, and parses in a process with a memory limit.
"""

from nbformat import NotebookNode


def submission(released: NotebookNode) -> bytes:
    objects = b",".join([b"{}"] * 6_500_000)
    return b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {"a": [%s]}, "cells": []}' % objects
