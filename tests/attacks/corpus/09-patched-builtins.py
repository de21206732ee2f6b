"""Replaces abs, all, max and AssertionError in builtins.

The runner has its own builtins.
"""

from nbformat import NotebookNode

from tests.attacks.build import first


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
