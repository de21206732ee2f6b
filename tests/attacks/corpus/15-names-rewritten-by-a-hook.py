"""Registers hooks that bind other things to the names that tests use, before and after each cell.

No test cell runs in this process, and no name of the student's replaces one that the runner has.
"""

from nbformat import NotebookNode

from tests.attacks.build import first


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
