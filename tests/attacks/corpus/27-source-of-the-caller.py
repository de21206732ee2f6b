"""Looks with `inspect` at who calls the function, and keeps their source to raise it as an error.

What calls it here is the grader's service; the test that asked is in another process.
"""

from attacks.build import answered
from nbformat import NotebookNode

INSPECT = """
import inspect

def double(x):
    frames = inspect.stack(context=30)
    raise ValueError(str([(frame.code_context, frame.frame.f_locals) for frame in frames if "test" in frame.filename]))
"""


def submission(released: NotebookNode) -> NotebookNode:
    return answered(released, INSPECT)
