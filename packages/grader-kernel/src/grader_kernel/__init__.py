"""The student's half of the grader: what a notebook imports, and the rules that it shares with the grader.

from grader_kernel import hand_in     a button that hands the notebook in; the report appears below it
from grader_kernel import feedback    the report, marks and comments, without handing in
import grader_kernel                  from now on, failed checks are sentences, and long cells say how far they are
"""

import os
import sys

# Only in a notebook's kernel: the grader's own processes have none.
if "ipykernel.zmqshell" in sys.modules:
    from ipykernel.zmqshell import ZMQInteractiveShell
    from IPython import get_ipython

    from grader_kernel import checks, running

    if isinstance(_shell := get_ipython(), ZMQInteractiveShell):
        checks.install(_shell)
        running.install(_shell)


def hand_in(
    notebook: "str | os.PathLike[str] | None" = None, *, now: bool = False, late: bool = False, note: str = ""
) -> None:
    """Show a button that hands in the notebook that calls this; see `grader_kernel.handing_in`.

    Args:
        notebook: the notebook's file, if Jupyter does not provide it.
        now: whether to hand in at once, without a button, as a script or a program without widgets must.
        late: whether to hand in even if that costs points because it is late. The button asks before it does.
        note: a request to the person who marks, which goes with the notebook.
    """
    from grader_kernel import handing_in  # late: the grader's processes import this package too

    handing_in.hand_in(notebook, now=now, late=late, note=note)


def ask(text: str, exercise: str = "", notebook: "str | os.PathLike[str] | None" = None) -> None:
    """Ask the person who marks to look at an exercise again; see `grader_kernel.handing_in`.

    Args:
        text: what should be looked at, and why.
        exercise: the name of the exercise, as in the report; '' for the whole notebook.
        notebook: the notebook's file, if Jupyter does not provide it.
    """
    from grader_kernel import handing_in

    handing_in.ask(text, exercise, notebook)


def feedback(notebook: "str | os.PathLike[str] | None" = None) -> None:
    """Show what became of a notebook: report, marks, and a link to its page; see `grader_kernel.handing_in`.

    Args:
        notebook: the notebook's file, if Jupyter does not provide it.
    """
    from grader_kernel import handing_in

    handing_in.feedback(notebook)
