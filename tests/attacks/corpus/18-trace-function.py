"""Sets a trace function that skips lines that raise AssertionError, in this thread and in all later ones.

The function traces only the student process.
"""

from nbformat import NotebookNode

from tests.attacks.build import first


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
