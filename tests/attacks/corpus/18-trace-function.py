"""Sets a trace function that skips what raises AssertionError, in this thread and in all that start.

It traces the student's own process.
"""

from attacks.build import first
from nbformat import NotebookNode


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        import sys, threading
        def skip(frame, event, argument):
            if event == "line" and "assert" in str(frame.f_code.co_names):
                frame.f_lineno += 1
            return skip
        sys.settrace(skip)
        sys.setprofile(skip)
        threading.settrace(skip)
        """,
    )
