"""Replaces run_cell and run_cell_async, and the grader's own execute and Shell.run, by functions that do nothing.

The attacker reaches only the shell in the student process.
"""

from nbformat import NotebookNode

from tests.attacks.build import first

STARRED = True


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        from grader.engine.rpc.protocol import CellDone
        from grader.engine.sandbox import shell as grader_shell
        shell = type(get_ipython())
        shell.run_cell = shell.run_cell_async = lambda *args, **kwargs: None
        grader_shell.execute = lambda *args, **kwargs: None
        grader_shell.Shell.run = lambda *args, **kwargs: CellDone()
        """,
    )
