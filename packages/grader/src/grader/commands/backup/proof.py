"""Proves the databases of a backup: each is sound, and every accepted hand-in has its bytes."""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import or_, select
from sqlalchemy.dialects import sqlite

from grader.commands.backup.manifest import Manifest
from grader.commands.serve.store import GRADING, WAITING, hand_in
from grader.errors import GraderError
from grader.text import one_line

MAGIC = b"SQLite format 3\0"
"""The first bytes of an SQLite database."""


def opened(database: Path) -> sqlite3.Connection:
    """Open a database that no one writes, without creating files beside it."""
    return sqlite3.connect(f"{database.resolve().as_uri()}?immutable=1", uri=True)


def require_sound(database: Path) -> None:
    """Raise GraderError unless SQLite finds no damage in a database, and each row refers to one that is there."""
    try:
        with closing(opened(database)) as connection:
            found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            found = found if found != "ok" else connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        found = error
    if found:
        raise GraderError(f"its database {database.name} is damaged ({one_line(found, 200)})")


def student_count(gradebook: Path) -> int:
    """Return the number of students in a gradebook."""
    with closing(opened(gradebook)) as connection:
        count: int = connection.execute("SELECT count(*) FROM student").fetchone()[0]
        return count


def missing_hand_ins(database: Path, manifest: Manifest) -> tuple[int, list[str]]:
    """Return the number of accepted hand-ins, and the ids of those whose bytes are nowhere.

    A hand-in that waits or is being graded has its bytes in the database. One that counts has them there or, as the
    service may drop them for lack of space, in submitted/.

    Args:
        database: the table of hand-ins.
        manifest: the digests of the files.
    """
    digests, count, missing = manifest.digests(), 0, []
    for key, student, assignment, notebook, sha256, content in _accepted(database):
        count += 1
        path = manifest.submission(student, assignment, notebook)
        if (content is None or hashlib.sha256(content).hexdigest() != sha256) and digests.get(path) != sha256:
            missing.append(key)
    return count, missing


def _accepted(database: Path) -> Iterator[tuple[str, str, str, str, str, bytes | None]]:
    columns = hand_in.c
    query = select(
        columns.id, columns.student, columns.assignment, columns.notebook, columns.sha256, columns.content
    ).where(or_(columns.state.in_((WAITING, GRADING)), columns.counts))
    text = str(query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}))
    with closing(opened(database)) as connection:
        yield from connection.execute(text)


def digest(path: Path, write: Callable[[bytes], object] = len) -> tuple[int, str]:
    """Return size and SHA-256 of a file's content, and pass each part of it to `write`."""
    size, found = 0, hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(2**20):
            size += len(part)
            found.update(part)
            write(part)
    return size, found.hexdigest()
