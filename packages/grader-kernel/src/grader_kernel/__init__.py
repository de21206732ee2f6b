"""The student's half of the grader: what a notebook imports, and the rules that it shares with the grader.

from grader_kernel import hand_in     hand in the notebook, and read the report below the cell
import grader_kernel                  from now on, failed checks are sentences
"""

import os
import sys

# Only in a notebook's kernel: the grader's own processes have none.
if "ipykernel.zmqshell" in sys.modules:
    from ipykernel.zmqshell import ZMQInteractiveShell
    from IPython import get_ipython

    from grader_kernel import checks

    if isinstance(_shell := get_ipython(), ZMQInteractiveShell):
        checks.install(_shell)


def hand_in(notebook: "str | os.PathLike[str] | None" = None) -> None:
    """Hand in the notebook that calls this, and show the report below the cell; see `grader_kernel.handing_in`.

    Args:
        notebook: the notebook's file, if Jupyter does not provide it.
    """
    from grader_kernel import handing_in  # late: the grader's processes import this package too

    handing_in.hand_in(notebook)
