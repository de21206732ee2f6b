"""Copies what the gradebook has of one assignment, so that a class run can be rehearsed, and reads the copy.

gradebook in SQLite or PostgreSQL --rows of the assignment--> SQLite file in a temporary folder
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader import api
from sqlalchemy import create_engine, func, insert, make_url, select

from grader.classroom.course_dir import CourseDir, make_tables

ROWS = 10_000
"""How many rows are in memory at a time."""


class Total(NamedTuple):
    """A student's points in an assignment, and what being late takes from them."""

    score: float
    penalty: float

    @property
    def counts(self) -> float:
        """The points that nbgrader exports."""
        return max(0.0, self.score - self.penalty)


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


def totals(copy: CourseDir) -> dict[str, Total]:
    """Return the points of all students, by student.

    Args:
        copy: the course folder with a copy of its gradebook.
    """
    submission, notebook = api.SubmittedAssignment, api.SubmittedNotebook
    notebooks = select(submission.student_id).join(notebook, notebook.assignment_id == submission.id)
    grades = notebooks.join(api.Grade, api.Grade.notebook_id == notebook.id)
    with copy.gradebook() as gradebook:
        scores, penalties = (
            dict(iter(gradebook.db.execute(query.add_columns(func.sum(points)).group_by(submission.student_id))))
            for query, points in ((grades, api.Grade.score), (notebooks, notebook.late_submission_penalty))
        )
    return {student: Total(scores.get(student) or 0.0, penalty or 0.0) for student, penalty in penalties.items()}


def max_points(copy: CourseDir) -> dict[str, dict[str, float]]:
    """Return the points that each graded cell can give, by notebook and grade_id; nothing if it was never registered.

    Args:
        copy: the course folder with a copy of its gradebook.
    """
    with copy.gradebook() as gradebook:
        return {
            notebook.name: {cell.name: cell.max_score for cell in notebook.grade_cells}
            for notebook in gradebook.db.query(api.Notebook)
        }


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
