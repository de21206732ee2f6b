"""Copies what the gradebook has of one assignment, so that a class run can be rehearsed.

gradebook in SQLite or PostgreSQL --rows of the assignment--> SQLite file in a temporary folder
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader import api
from sqlalchemy import create_engine, insert, make_url, select

from grader.classroom.course_dir import CourseDir, make_tables

ROWS = 10_000
"""How many rows are in memory at a time."""


def copied(course_dir: CourseDir, assignment: str, folder: Path) -> CourseDir:
    """Return the course folder with a copy of its gradebook, which holds one assignment and no other.

    Args:
        course_dir: the course folder. If it has no gradebook yet, none is made, and the copy is empty.
        assignment: the assignment's name.
        folder: an empty folder for the copy.

    Raises:
        GraderError: the gradebook cannot be read.
    """
    url = f"sqlite:///{folder / 'gradebook.db'}"
    make_tables(url)
    if _is_there(course_dir.directory.db_url):
        engine = create_engine(url)
        with course_dir.gradebook() as gradebook, engine.begin() as copy:
            for table, rows in _rows(gradebook.db, assignment):
                copy.execute(insert(table), rows)
        engine.dispose()
    return course_dir.with_gradebook(url)


def _is_there(url: str) -> bool:
    """Whether there is such a database. Looking into a missing file of SQLite would make it."""
    address = make_url(url)
    file = (address.database or "").removeprefix("file:")
    return address.get_backend_name() != "sqlite" or Path(file).exists()


def _rows(database: Any, assignment: str) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """The rows of an assignment, table by table, in an order in which they can be inserted."""
    kept: dict[Any, Any] = {}
    for table in api.Base.metadata.sorted_tables:
        conditions = [table.c.name == assignment] if table is api.Assignment.__table__ else []
        # What refers to a row of another assignment belongs to that one, too.
        conditions += [key.parent.in_(kept[key.column.table]) for key in table.foreign_keys]
        kept[table] = select(table.c.id).where(*conditions)
        found = database.execute(select(table).where(*conditions).execution_options(yield_per=ROWS))
        for rows in found.mappings().partitions():
            yield table, [dict(row) for row in rows]
