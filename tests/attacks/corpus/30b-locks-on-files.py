"""Locks files that every sandbox may read, so that a locked byte tells another student something.

The kernel refuses every kind of lock.
"""

from nbformat import NotebookNode

from tests.attacks.build import calling, instead, trying

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
