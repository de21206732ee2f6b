"""Stores every hand-in from its receipt to its report, so that the queue survives a crash of service or machine.

The table is in hand_ins.db in the course folder, or in the gradebook's database if that is PostgreSQL.

waiting --> grading --> graded
   |           \\--> refused, if it is not a notebook
   \\--> superseded, by a newer one of the same notebook
"""

import hashlib
import json
import secrets
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from grader.classroom.course_dir import CourseDir
from grader.commands.serve.fair_queue import Ticket
from grader.commands.serve.policy import Attempts, Refusal

WAITING, GRADING, GRADED, REFUSED, SUPERSEDED = "waiting", "grading", "graded", "refused", "superseded"
DATABASE = "hand_ins.db"
REPLAY = timedelta(minutes=1)
"""The time after which a notebook whose grading did not end is graded again if the student hands it in unchanged."""
KEPT = 20
"""Superseded or refused hand-ins kept of each student and notebook. They cost no attempt."""

metadata = sa.MetaData()
hand_in = sa.Table(
    "hand_in",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String(32), unique=True, nullable=False),
    sa.Column("student", sa.String(128), nullable=False),
    sa.Column("assignment", sa.String(128), nullable=False),
    sa.Column("notebook", sa.String(128), nullable=False),
    sa.Column("received", sa.DateTime, nullable=False),  # UTC
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("fingerprint", sa.String(64)),  # of what is graded; None in rows of earlier versions
    sa.Column("content", sa.LargeBinary),  # None if it can never be graded or its student's later ones need the space
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False, index=True),
    sa.Column("superseded_by", sa.String(32)),
    sa.Column("problem", sa.Text),  # the reason for a refusal
    sa.Column("report", sa.Text),  # JSON
    sa.Column("points", sa.Float),
    sa.Column("is_free", sa.Boolean, nullable=False, default=False),  # always false, for tables of earlier versions
    sa.Column("counts", sa.Boolean, nullable=False, default=False),
    sa.Column("page", sa.LargeBinary),  # compressed HTML; kept of the newest and of the counting one
    sa.Column("graded_at", sa.DateTime),
    sa.Index("hand_in_work", "student", "assignment", "notebook"),
)
shown_columns = [column for column in hand_in.columns if column.name not in ("content", "is_free", "page")]

# Created once, because SQLAlchemy takes longer to build a statement of many columns than SQLite to execute it.
NEWEST = sa.select(*shown_columns).order_by(hand_in.c.number.desc()).limit(1)
ATTEMPTS = sa.select(sa.func.count(), sa.func.max(hand_in.c.received))
IS_ATTEMPT = hand_in.c.state.in_((WAITING, GRADING, GRADED))


@dataclass(frozen=True)
class SubmissionRow:
    """A hand-in without its bytes."""

    number: int
    id: str
    student: str
    assignment: str
    notebook: str
    received: datetime
    sha256: str
    fingerprint: str | None
    attempt: int
    state: str
    superseded_by: str | None
    problem: str | None
    report: str | None
    points: float | None
    counts: bool
    graded_at: datetime | None

    def answers(self, fingerprint: str, sha256: str, now: datetime) -> bool:
        """Return whether this hand-in is the answer to another one, which therefore is no further attempt.

        Args:
            fingerprint: the fingerprint of the other one.
            sha256: the digest of its bytes, which decides if this one has no fingerprint.
            now: the time in UTC.
        """
        if (self.sha256 != sha256) if self.fingerprint is None else (self.fingerprint != fingerprint):
            return False
        return not (self.report and json.loads(self.report)["given_up"]) or self.received > now - REPLAY

    @property
    def ticket(self) -> Ticket:
        """The hand-in's ticket for the queue."""
        return Ticket(self.id, self.student, self.assignment, self.notebook)


@dataclass(frozen=True)
class Graded:
    """The result of a hand-in: a report in its JSON form, the page, and True if it counts from now on."""

    report: dict[str, Any]
    page: str
    counts: bool


class Store:
    """The table of hand-ins. Every method is one transaction and thread-safe."""

    def __init__(self, url: str) -> None:
        """Open the table at an SQLAlchemy URL, and create it if necessary."""
        # Connections to PostgreSQL break when its server restarts, so each is tested before use.
        self._engine: sa.Engine = sa.create_engine(url, pool_pre_ping=url.startswith("postgresql"))
        if self._engine.dialect.name == "sqlite":
            sa.event.listen(self._engine, "connect", _durable)
        metadata.create_all(self._engine)
        if all(column["name"] != "fingerprint" for column in sa.inspect(self._engine).get_columns(hand_in.name)):
            with self._engine.begin() as connection:  # the table of an earlier version
                connection.execute(sa.text(f"ALTER TABLE {hand_in.name} ADD COLUMN fingerprint VARCHAR(64)"))
        # SQLite allows one writer at a time, and waiting for it is not fair; waiting for a lock is.
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def accept(
        self,
        student: str,
        assignment: str,
        notebook: str,
        content: bytes,
        fingerprint: str,
        room: int,
        require_allowed: Callable[[datetime, Attempts], None],
    ) -> tuple[SubmissionRow, bool]:
        """Store a hand-in durably; return it and True, or the newest one and False if that has the same answers.

        Args:
            student: the name of the student.
            assignment: the name of the assignment.
            notebook: the name of the notebook.
            content: the bytes of the file.
            fingerprint: the digest of what is graded; see policy.py.
            room: the maximum number of stored bytes of this student; graded hand-ins are dropped first.
            require_allowed: called with the time and the attempts so far; raises if the rules allow no more.

        Raises:
            Refusal: the waiting hand-ins leave too little room.
        """
        sha256 = hashlib.sha256(content).hexdigest()
        with self._lock, self._engine.begin() as connection:
            now = utc_now()
            is_same_work = _is_work(student, assignment, notebook)
            newest = _row(connection, is_same_work, IS_ATTEMPT)
            if newest is not None and newest.answers(fingerprint, sha256, now):
                return newest, False
            # A hand-in that still waits is superseded, so it costs no attempt.
            attempts = _attempts(connection, is_same_work, hand_in.c.state.in_((GRADING, GRADED)))
            require_allowed(now, attempts)
            key = secrets.token_urlsafe(16)
            if _update(connection, is_same_work, hand_in.c.state == WAITING, state=SUPERSEDED, superseded_by=key):
                # It waits again if the new one is refused; those that it superseded itself never do.
                older = is_same_work & (hand_in.c.state == SUPERSEDED) & (hand_in.c.superseded_by != key)
                _update(connection, older, content=None)
            _make_room(connection, student, room - len(content))
            connection.execute(
                sa.insert(hand_in).values(
                    id=key, student=student, assignment=assignment, notebook=notebook, received=now, sha256=sha256,
                    fingerprint=fingerprint, content=content, attempt=attempts.used + 1, state=WAITING,
                )
            )  # fmt: skip
            is_spent = is_same_work & hand_in.c.state.in_((SUPERSEDED, REFUSED))
            spent = sa.select(hand_in.c.number).where(is_spent).order_by(hand_in.c.number.desc()).offset(KEPT)
            connection.execute(sa.delete(hand_in).where(hand_in.c.number.in_(spent)))
            row = _row(connection, hand_in.c.id == key)
            assert row is not None
        return row, True

    def add_fingerprint(
        self, student: str, assignment: str, notebook: str, fingerprint: Callable[[bytes], str]
    ) -> None:
        """Compute the fingerprint of the newest hand-in of a notebook if an earlier version stored it.

        Args:
            student: the name of the student.
            assignment: the name of the assignment.
            notebook: the name of the notebook.
            fingerprint: returns the fingerprint of a file; raises Refusal if it is not a notebook.
        """
        with self._lock, self._engine.begin() as connection:
            row = _row(connection, _is_work(student, assignment, notebook), IS_ATTEMPT)
            if row is None or row.fingerprint is not None:
                return
            content = connection.scalar(sa.select(hand_in.c.content).where(hand_in.c.id == row.id))
            if content is not None:
                with suppress(Refusal):
                    _update(connection, hand_in.c.id == row.id, fingerprint=fingerprint(content))

    def recover(self) -> list[SubmissionRow]:
        """Put back hand-ins that were being graded when the service ended; return all waiting ones, oldest first."""
        with self._lock, self._engine.begin() as connection:
            _update(connection, hand_in.c.state == GRADING, state=WAITING)
            waiting = sa.select(*shown_columns).where(hand_in.c.state == WAITING).order_by(hand_in.c.number)
            return [SubmissionRow(*row) for row in connection.execute(waiting)]

    def start(self, key: str) -> bytes | None:
        """Mark a hand-in as being graded, and return its bytes; None if it no longer waits."""
        with self._lock, self._engine.begin() as connection:
            if not _update(connection, hand_in.c.id == key, hand_in.c.state == WAITING, state=GRADING):
                return None
            return connection.scalar(sa.select(hand_in.c.content).where(hand_in.c.id == key))

    def content(self, key: str) -> bytes:
        """Return the bytes of a hand-in."""
        with self._engine.connect() as connection:
            content = connection.scalar(sa.select(hand_in.c.content).where(hand_in.c.id == key))
        assert isinstance(content, bytes)
        return content

    def put_back(self, key: str) -> None:
        """Put a hand-in that was being graded back, or supersede it if a newer one waits; ignore any other."""
        with self._lock, self._engine.begin() as connection:
            row = _row(connection, hand_in.c.id == key)
            if row is None or row.state != GRADING:
                return  # grading failed before it began, or the hand-in is no longer kept
            newer = _row(connection, _is_work(row.student, row.assignment, row.notebook), hand_in.c.state == WAITING)
            values = {"state": WAITING} if newer is None else {"state": SUPERSEDED, "superseded_by": newer.id}
            _update(connection, hand_in.c.id == key, **values)

    def finish(self, key: str, graded: Graded) -> None:
        """Record the report of a hand-in, and drop superseded bytes and older pages."""
        with self._lock, self._engine.begin() as connection:
            row = _row(connection, hand_in.c.id == key)
            assert row is not None
            older = _is_work(row.student, row.assignment, row.notebook) & (hand_in.c.id != key)
            if graded.counts:
                _update(connection, older, hand_in.c.counts, counts=False)
            _update(connection, older, hand_in.c.counts.is_(False), hand_in.c.page.is_not(None), page=None)
            _update(connection, older, hand_in.c.state == SUPERSEDED, hand_in.c.number < row.number, content=None)
            page = zlib.compress(graded.page.encode(), level=1)  # a third of the time for a third more bytes
            _update(
                connection, hand_in.c.id == key, state=GRADED, report=json.dumps(graded.report),
                points=graded.report["points"], counts=graded.counts, page=page, graded_at=utc_now(),
            )  # fmt: skip

    def refuse(self, key: str, problem: str) -> SubmissionRow | None:
        """Record why a hand-in cannot be graded; return the one that it superseded if that waits again."""
        with self._lock, self._engine.begin() as connection:
            done = utc_now()
            _update(connection, hand_in.c.id == key, state=REFUSED, problem=problem, graded_at=done, content=None)
            older = _row(connection, hand_in.c.superseded_by == key, hand_in.c.content.is_not(None))
            if older is None:
                return None
            is_same_work = _is_work(older.student, older.assignment, older.notebook)
            newer = _row(connection, is_same_work, hand_in.c.state == WAITING)
            back = {"state": WAITING, "superseded_by": None} if newer is None else {"superseded_by": newer.id}
            _update(connection, hand_in.c.id == older.id, **back)
            return _row(connection, hand_in.c.id == older.id) if newer is None else None

    def get(self, key: str) -> SubmissionRow | None:
        """Return the hand-in with this id, or None."""
        with self._engine.connect() as connection:
            return _row(connection, hand_in.c.id == key)

    def page(self, key: str) -> str | None:
        """Return the feedback page of a hand-in, or None if it is no longer kept."""
        with self._engine.connect() as connection:
            page = connection.scalar(sa.select(hand_in.c.page).where(hand_in.c.id == key))
        return None if page is None else zlib.decompress(page).decode()

    def attempts(self, student: str, assignment: str, notebook: str) -> Attempts:
        """Return the attempts that a student has used, including a waiting one."""
        with self._engine.connect() as connection:
            return _attempts(connection, _is_work(student, assignment, notebook), IS_ATTEMPT)

    def counting(self, student: str, assignment: str) -> dict[str, SubmissionRow]:
        """Return the hand-ins of a student that count, by notebook."""
        is_theirs = (hand_in.c.student == student) & (hand_in.c.assignment == assignment)
        with self._engine.connect() as connection:
            rows = connection.execute(sa.select(*shown_columns).where(is_theirs, hand_in.c.counts))
            return {row.notebook: SubmissionRow(*row) for row in rows}

    def knows(self, student: str) -> bool:
        """Return whether a student has handed in anything."""
        with self._engine.connect() as connection:
            return _row(connection, hand_in.c.student == student) is not None

    def rename(self, what: str, before: str, after: str) -> None:
        """Change a name in all hand-ins.

        Args:
            what: "student" or "assignment".
            before: the current name.
            after: the new name.
        """
        with self._lock, self._engine.begin() as connection:
            _update(connection, hand_in.c[what] == before, **{what: after})

    def withdraw(self, student: str) -> None:
        """Refuse what a student has handed in and is not graded, because the student was removed; keep all of it."""
        problem = "the student was removed from the course"
        with self._lock, self._engine.begin() as connection:
            is_open = hand_in.c.state.in_((WAITING, GRADING))
            _update(connection, hand_in.c.student == student, is_open, state=REFUSED, problem=problem)


def store_of(course_dir: CourseDir) -> Store | None:
    """Return the table of hand-ins of a course; None if there is none yet.

    Args:
        course_dir: the course folder.
    """
    url = str(course_dir.directory.db_url)
    if url.startswith("postgresql"):
        return Store(url)
    file = course_dir.root / DATABASE
    return Store(f"sqlite:///{file}") if file.exists() else None


def utc_now() -> datetime:
    """Return the time in UTC without a zone, as in the gradebook."""
    return datetime.now(UTC).replace(tzinfo=None)


def _durable(connection: Any, _: object) -> None:
    """Make SQLite write to the disk before a commit returns, and allow reads meanwhile."""
    for setting in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000"):
        connection.execute(f"PRAGMA {setting}")


def _make_room(connection: sa.Connection, student: str, room: int) -> None:
    """Drop bytes of a student's graded hand-ins, the oldest that do not count first, until the others fit.

    Args:
        connection: a transaction.
        student: the student's name.
        room: the number of bytes that may stay.

    Raises:
        Refusal: the hand-ins that are not graded yet do not fit.
    """
    size = sa.func.length(hand_in.c.content)  # databases know the size without reading the bytes
    last_to_go_first = hand_in.c.state == GRADED, hand_in.c.counts.desc(), hand_in.c.number.desc()
    query = sa.select(hand_in.c.number, hand_in.c.state, size).where(hand_in.c.student == student, size > 0)
    rows = connection.execute(query.order_by(*last_to_go_first)).all()
    if sum(length for _, state, length in rows if state != GRADED) > room:
        raise Refusal(429, "your waiting notebooks take all the space that you may use: wait for their reports", 10)
    for number, _, length in rows:
        room -= length
        if room < 0:
            _update(connection, hand_in.c.number == number, content=None)


def _is_work(student: str, assignment: str, notebook: str) -> Any:
    return (hand_in.c.student == student) & (hand_in.c.assignment == assignment) & (hand_in.c.notebook == notebook)


def _row(connection: sa.Connection, *conditions: Any) -> SubmissionRow | None:
    """Return the newest hand-in that meets the conditions, or None."""
    row = connection.execute(NEWEST.where(*conditions)).first()
    return None if row is None else SubmissionRow(*row)


def _update(connection: sa.Connection, *conditions: Any, **values: Any) -> int:
    """Set values of the hand-ins that meet the conditions; return the number of these hand-ins."""
    return connection.execute(sa.update(hand_in).where(*conditions).values(**values)).rowcount


def _attempts(connection: sa.Connection, *conditions: Any) -> Attempts:
    return Attempts(*connection.execute(ATTEMPTS.where(*conditions)).one())
