"""Inspects the caller of its function, and raises the caller's source as an error.

The caller is the grader's server; the test that asked is in another process.
"""

from nbformat import NotebookNode

from tests.attacks.build import answered

INSPECT = """
import inspect

def double(x):
    frames = inspect.stack(context=30)
    raise ValueError(str([(frame.code_context, frame.frame.f_locals) for frame in frames if "test" in frame.filename]))
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, INSPECT)
