"""The attention seminar: what its notebooks import, and the grader that judges them."""

import warnings

# A student who meets a yellow box of a library's deprecation cannot act on it, and under plain nbgrader
# one line on stderr costs the points of a test. Warnings that the student's own code raises still show.
for _library in ("torch", "numpy", "matplotlib", "IPython", "ipywidgets", "traitlets", "jupyter_client", "zmq"):
    warnings.filterwarnings("ignore", module=rf"{_library}(\.|$)")
