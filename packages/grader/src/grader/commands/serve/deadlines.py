"""Reads due dates from the gradebook, where instructors change them and grant extensions during the service."""

from datetime import datetime

from nbgrader import api
from sqlalchemy import create_engine, inspect
from sqlalchemy.exc import OperationalError

from grader.classroom.gradebook.reader import due_of

LOCK_SECONDS = 1


class Deadlines:
    """The due dates of a gradebook; all methods are thread-safe."""

    def __init__(self, url: str) -> None:
        """Open the gradebook at an SQLAlchemy URL; it need not exist yet."""
        # While another program locks the gradebook, every request waits for this query, so the timeout is short.
        options = {"timeout": LOCK_SECONDS} if url.startswith("sqlite") else {}
        self._engine = create_engine(url, connect_args=options, pool_pre_ping=url.startswith("postgresql"))
        self._exists = False
        self._known: dict[tuple[str, str], datetime | None] = {}

    def due(self, assignment: str, student: str) -> datetime | None:
        """Return the due date of a student in UTC, extension included, or None.

        Args:
            assignment: the assignment's name.
            student: the student's name.

        Raises:
            OperationalError: the gradebook is locked, and the date was never read before.
        """
        key = assignment, student
        try:
            self._known[key] = self._read(assignment, student)
        except OperationalError:
            if key not in self._known:
                raise
        return self._known[key]

    def _read(self, assignment: str, student: str) -> datetime | None:
        if not self._exists:
            self._exists = inspect(self._engine).has_table(api.Assignment.__tablename__)
        if not self._exists:
            return None  # the gradebook does not exist yet
        with self._engine.connect() as connection:
            return due_of(connection, assignment, student)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()
