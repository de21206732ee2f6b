"""Replaces abs, all, max and AssertionError in builtins.

The examiner has builtins of its own.
"""

from attacks.build import first
from nbformat import NotebookNode


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        import builtins
        builtins.abs = lambda x: 0
        builtins.all = builtins.any = lambda *args: True
        builtins.AssertionError = Warning
        builtins.max = builtins.round = lambda *args: 1e9
        """,
    )
