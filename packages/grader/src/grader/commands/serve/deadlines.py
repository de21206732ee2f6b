"""Reads due dates from the gradebook, where instructors change them and grant extensions while the service runs."""

from datetime import datetime

from nbgrader import api
from sqlalchemy import create_engine, inspect
from sqlalchemy.exc import OperationalError

from grader.classroom.gradebook.reader import due_of

LOCK_SECONDS = 1


class Deadlines:
    """The due dates of a gradebook; any thread may ask."""

    def __init__(self, url: str) -> None:
        """Read from the gradebook at a database URL of SQLAlchemy; it need not exist yet."""
        # While another program locks the gradebook, all that is asked here waits, so it waits briefly.
        options = {"timeout": LOCK_SECONDS} if url.startswith("sqlite") else {}
        self._engine = create_engine(url, connect_args=options, pool_pre_ping=url.startswith("postgresql"))
        self._exists = False
        self._known: dict[tuple[str, str], datetime | None] = {}

    def due(self, assignment: str, student: str) -> datetime | None:
        """Return the due date of a student in UTC, with an extension; None if there is none.

        Args:
            assignment: the assignment's name.
            student: the student's name.

        Raises:
            OperationalError: the gradebook is locked, and this was never asked before.
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
            return None  # the gradebook is about to be made
        with self._engine.connect() as connection:
            return due_of(connection, assignment, student)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()
