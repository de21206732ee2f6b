"""The student's half of the grader: what a notebook imports, and the rules that it shares with the grader.

from grader_kernel import hand_in     hand in the notebook, and read the report below the cell
import grader_kernel                  from now on, failed checks are sentences
"""

import os
import sys

# In a notebook's kernel. A grader's processes have none, and show results on a page.
if "ipykernel.zmqshell" in sys.modules:
    from ipykernel.zmqshell import ZMQInteractiveShell
    from IPython import get_ipython

    from grader_kernel import checks

    if isinstance(_shell := get_ipython(), ZMQInteractiveShell):
        checks.install(_shell)


def hand_in(notebook: "str | os.PathLike[str] | None" = None) -> None:
    """Hand in the notebook that calls this, and show the report below the cell; see `grader_kernel.handing_in`.

    Args:
        notebook: the notebook's file, where Jupyter does not tell it.
    """
    from grader_kernel import handing_in  # in a cell only: a grader's processes import this package, too

    handing_in.hand_in(notebook)
