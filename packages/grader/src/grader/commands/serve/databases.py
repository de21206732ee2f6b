"""Opens the databases of a course: the table of hand-ins, and the due dates in the gradebook.

SQLite has two files, gradebook.db and hand_ins.db, so that neither waits for the other; PostgreSQL one database.
"""

from datetime import datetime

from nbgrader import api
from sqlalchemy import inspect
from sqlalchemy.exc import OperationalError

from grader.classroom.course_dir import CourseDir, engine_at
from grader.classroom.gradebook.reader import due_of
from grader.commands.serve.store import DATABASE, Store
from grader.errors import GraderError
from grader.text import one_line

LOCK_SECONDS = 1


class Deadlines:
    """The due dates of a gradebook, which instructors may change during the service; all methods are thread-safe."""

    def __init__(self, url: str) -> None:
        """Open the gradebook at an SQLAlchemy URL; it need not exist yet."""
        # While another program locks the gradebook, every request waits for this query, so the timeout is short.
        options = {"timeout": LOCK_SECONDS} if url.startswith("sqlite") else {}
        self._engine = engine_at(url, connect_args=options, pool_pre_ping=url.startswith("postgresql"))
        self._exists = False
        self._known: dict[tuple[str, str], datetime | None] = {}

    def due(self, assignment: str, student: str, due: datetime | None = None) -> datetime | None:
        """Return the due date of a student in UTC, extension included, or None.

        Args:
            assignment: the assignment's name.
            student: the student's name.
            due: a due date that replaces the gradebook's.

        Raises:
            OperationalError: the gradebook is locked, and the date was never read before.
        """
        key = assignment, student
        try:
            self._known[key] = self._read(assignment, student, due)
        except OperationalError:
            if key not in self._known:
                raise
        return self._known[key]

    def _read(self, assignment: str, student: str, due: datetime | None) -> datetime | None:
        if not self._exists:
            self._exists = inspect(self._engine).has_table(api.Assignment.__tablename__)
        if not self._exists:
            return due  # the gradebook does not exist yet
        with self._engine.connect() as connection:
            return due_of(connection, assignment, student, due)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def open_databases(course_dir: CourseDir) -> tuple[Store, Deadlines]:
    """Open the table of hand-ins and the due dates of a course, and create missing tables.

    Args:
        course_dir: the course folder. If its c.CourseDirectory.db_url is PostgreSQL, that database holds all tables.

    Raises:
        GraderError: the URL is not valid, its driver is not installed, or its server does not answer.
    """
    url = str(course_dir.directory.db_url)
    try:
        if not url.startswith("postgresql"):
            return Store(f"sqlite:///{course_dir.root / DATABASE}"), Deadlines(url)
        engine = engine_at(url)
        engine.connect().close()
        engine.dispose()
        # nbgrader stamps its tables with their version only in an empty database, so they come first.
        course_dir.make_gradebook()
        return Store(url), Deadlines(url)
    except OperationalError as error:
        raise GraderError(
            f"the database of c.CourseDirectory.db_url does not answer ({one_line(error.orig)}): start it, or correct "
            "the URL in nbgrader_config.py"
        ) from None
