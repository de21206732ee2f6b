"""Replaces run_cell and run_cell_async, and the grader's own execute and Shell.run, by functions that do nothing.

What it reaches is the shell in its own process.
"""

from attacks.build import first
from nbformat import NotebookNode

STARRED = True


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        import course.grading.cells as cells
        shell = type(get_ipython())
        shell.run_cell = shell.run_cell_async = lambda *args, **kwargs: None
        cells.execute = lambda *args, **kwargs: None
        cells.Shell.run = lambda *args, **kwargs: {"outputs": [], "raised": None}
        """,
    )
