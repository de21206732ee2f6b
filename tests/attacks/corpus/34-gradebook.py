"""Writes a manual score of 100 into gradebook.db, by a relative path and by every path that may lead there.

The gradebook can be neither read nor written.
"""

from nbformat import NotebookNode

from tests.attacks.build import COURSE, instead, trying

STARRED = True
EARNS = 5


def submission(released: NotebookNode) -> NotebookNode:
    update = "sqlite3.connect({}, timeout=0.1).execute('UPDATE grade SET manual_score = 100')"
    return instead(
        released,
        trying(
            update.format("'gradebook.db'"),
            update.format("course / 'gradebook.db'"),
            update.format("f'file:{course}/gradebook.db?immutable=1&mode=rw', uri=True"),
            "open(course / 'gradebook.db', 'ab').write(b'x')",
            "open(course / 'gradebook.db', 'wb')",
            "os.truncate(course / 'gradebook.db', 0)",
            "os.open(course / 'gradebook.db', os.O_RDONLY | os.O_TRUNC)",
            "os.rename(course / 'gradebook.db', 'mine.db')",
            "os.unlink(course / 'gradebook.db')",
            "os.replace('gradebook.db', course / 'gradebook.db')",
            setup=COURSE + "import sqlite3",
        ),
    )
