"""Holds what the notebooks of the attention seminar import, and quiets their libraries."""

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

from grader_kernel import hand_in as hand_in  # noqa: E402  (the warnings of its libraries are quiet by now)
