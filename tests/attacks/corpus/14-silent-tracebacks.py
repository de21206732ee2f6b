"""Disables showtraceback, so that no error is ever shown.

A test that does not run to its end has failed, whatever is shown.
"""

from nbformat import NotebookNode

from tests.attacks.build import first


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        from grader.engine.rpc import exceptions
        shell = type(get_ipython())
        shell.showtraceback = shell._showtraceback = shell.showsyntaxerror = lambda *args, **kwargs: None
        exceptions.to_data.__code__ = (lambda error: None).__code__
        """,
    )
