"""The attention seminar: what its notebooks import, and the grader that judges them."""

import sys
import warnings

# A student who meets a yellow box of a library's deprecation cannot act on it, and under plain nbgrader
# one line on stderr costs the points of a test. Warnings that the student's own code raises still show.
for _library in ("torch", "numpy", "matplotlib", "IPython", "ipywidgets", "traitlets", "jupyter_client", "zmq"):
    warnings.filterwarnings("ignore", module=rf"{_library}(\.|$)")

# The tensors of the notebooks are small. Threads that share the work on them gain nothing, and where the computer does
# something else besides, they wait for each other: a training of two seconds takes up to a minute. Every notebook
# imports torch first.
if "torch" in sys.modules:
    sys.modules["torch"].set_num_threads(1)
