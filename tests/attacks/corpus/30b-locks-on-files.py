"""Locks files that every candidate may read: who finds a byte locked has been told something by another student.

Locks are refused, whoever asks and however.
"""

from attacks.build import calling, instead, trying
from nbformat import NotebookNode

EARNS = 5

SETUP = """
import fcntl
shared = open(torch.__file__, "rb")
"""


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "fcntl.flock(shared, fcntl.LOCK_SH | fcntl.LOCK_NB)",
            "fcntl.lockf(shared, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 2)",
            "fcntl.fcntl(shared, 1024, 0)",  # F_SETLEASE, F_RDLCK
            setup=SETUP,
        )
        + calling(("flock", 0, 5), ("lockf", 0, 2, 1)),
    )
