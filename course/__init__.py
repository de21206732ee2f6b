"""Holds what the notebooks of the attention seminar import, quiets their libraries, and words the results of checks."""

import os
import sys
import warnings

# A student cannot act on a library's deprecation warning, and under plain nbgrader one line on stderr costs the points
# of a test. Warnings that the student's own code causes still show.
for _library in ("torch", "numpy", "matplotlib", "IPython", "ipywidgets", "traitlets", "jupyter_client", "zmq"):
    warnings.filterwarnings("ignore", module=rf"{_library}(\.|$)")

# The tensors of the notebooks are small. Several threads gain nothing on them, and on a busy computer they wait for
# each other: a training run of two seconds then takes up to a minute. Every notebook imports torch first.
if "torch" in sys.modules:
    sys.modules["torch"].set_num_threads(1)

# In a notebook's kernel. A grader's processes have none, and show results on a page.
if "ipykernel.zmqshell" in sys.modules:
    from ipykernel.zmqshell import ZMQInteractiveShell
    from IPython import get_ipython

    from course import checks

    if isinstance(_shell := get_ipython(), ZMQInteractiveShell):
        checks.install(_shell)


def hand_in(notebook: "str | os.PathLike[str] | None" = None) -> None:
    """Hand in the notebook that calls this, and show the report below the cell; see `course.handing_in`.

    Args:
        notebook: the notebook's file, where Jupyter does not tell it.
    """
    from course import handing_in  # in a cell only: a grader's processes import this package, too

    handing_in.hand_in(notebook)
