"""Disables showtraceback, so that no error is ever shown.

A test that did not run to its end has failed, whatever was shown.
"""

from attacks.build import first
from nbformat import NotebookNode


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        import course.grading.failure as failure
        shell = type(get_ipython())
        shell.showtraceback = shell._showtraceback = shell.showsyntaxerror = lambda *args, **kwargs: None
        failure.describe.__code__ = (lambda error: {}).__code__
        """,
    )
