"""Defines the settings of `grader mark`, which nbgrader_config.py may set: c.Marking.markers = ["ada", "bob"]."""

from traitlets import Integer, List, Unicode

from grader.engine.limits import Settings


class Marking(Settings):
    """The settings of marking."""

    markers = List(
        Unicode(),
        help="Users of the JupyterHub who may mark. Required on a hub, where students also have accounts. On this "
        "machine, --marker names the markers."
    ).tag(config=True)  # fmt: skip
    lease_seconds = Integer(
        120, min=60,
        help="Seconds for which an answer stays held by a marker whose page does not answer, or who does nothing."
    ).tag(config=True)  # fmt: skip
