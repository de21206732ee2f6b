"""Locks the gradebook and keeps the lock, so that no scores can be written.

A file that cannot be opened cannot be locked.
"""

from nbformat import NotebookNode

from tests.attacks.build import COURSE, instead, trying

EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    return instead(
        released,
        trying(
            "base = sqlite3.connect(course / 'gradebook.db'); base.execute('BEGIN EXCLUSIVE')",
            "file = open(course / 'gradebook.db'); fcntl.flock(file, fcntl.LOCK_EX)",
            "file = open(course / 'gradebook.db'); fcntl.lockf(file, fcntl.LOCK_SH)",
            "open(course / 'gradebook.db-journal', 'w')",
            setup=COURSE + "import fcntl, sqlite3",
        )
        + "\nimport time\ntime.sleep(10**6)",
    )
