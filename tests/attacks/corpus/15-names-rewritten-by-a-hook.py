"""Hooks that run before and after each cell and put other things under the names that tests use.

No test cell runs in this process, and no name of the student's can stand for one that the examiner has.
"""

from attacks.build import first
from nbformat import NotebookNode


def submission(released: NotebookNode) -> NotebookNode:
    return first(
        released,
        """
        def hook(*args):
            get_ipython().user_ns.update(torch=True, x=0, m=0)
            globals().update(abs=lambda x: 0, isinstance=lambda *args: True)
        for event in ("pre_run_cell", "post_run_cell", "pre_execute", "post_execute"):
            get_ipython().events.register(event, hook)
        hook()
        """,
    )
