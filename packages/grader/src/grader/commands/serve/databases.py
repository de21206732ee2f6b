"""Opens the databases of a course: the gradebook and the table of hand-ins.

SQLite has two files, gradebook.db and hand_ins.db, so that neither waits for the other; PostgreSQL one database.
"""

from sqlalchemy import create_engine
from sqlalchemy.exc import ArgumentError, OperationalError

from grader.classroom.course_dir import CourseDir, unusable_url
from grader.commands.serve.deadlines import Deadlines
from grader.commands.serve.store import DATABASE, Store
from grader.errors import GraderError
from grader.text import one_line


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
        engine = create_engine(url)
        engine.connect().close()
        engine.dispose()
        # nbgrader stamps its tables with their version only in an empty database, so they come first.
        course_dir.make_gradebook()
        return Store(url), Deadlines(url)
    except (ImportError, ArgumentError) as error:
        raise unusable_url(error) from None
    except OperationalError as error:
        raise GraderError(
            f"the database of c.CourseDirectory.db_url does not answer ({one_line(error.orig)}): start it, or correct "
            "the URL in nbgrader_config.py"
        ) from None
