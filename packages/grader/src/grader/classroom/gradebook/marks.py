"""Reads and writes the marks that people give to one cell, as the formgrader does, but only over what they saw.

    MarkBook.read(cell) --> StudentMark, by student --a person--> NewMark --> MarkBook.write: all, or MarkChanged

Other programs write the same rows at any time: the formgrader, a class run, the service. So a row is written only if it
is still as it was read, which the database checks in the statement that writes it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, and_, case, exists, func, or_, select, update
from sqlalchemy.exc import DatabaseError

from grader.classroom.course_dir import CourseDir, engine_at
from grader.classroom.gradebook.late_penalty import LatePenalty
from grader.classroom.gradebook.reader import pending_submissions
from grader.classroom.gradebook.rules import CellScore, Comment, seconds_late
from grader.classroom.submitted.times import notebook_times
from grader.engine.limits import Limits
from grader.errors import GraderError
from grader.text import one_line

LOCK_SECONDS = 20
"""How long a statement waits while another program writes the gradebook."""
CellName = tuple[str, str]
"""The names of a notebook and of a cell in it."""


class MarkChanged(Exception):
    """The gradebook no longer has what the person saw; nothing was written."""


@dataclass(frozen=True, slots=True)
class StudentMark:
    """A student's row for a cell.

    Args:
        student: the student's name.
        score: the points.
        comment: the comments, of the cell itself or of the answer that a test belongs to.
        handed_in: the time of the submission in UTC, which changes with a newer one.
        row: the id of the row with the points.
        comment_row: the id of the row with the comments; '' if there is none.
    """

    student: str
    score: CellScore
    comment: Comment
    handed_in: datetime | None
    row: str
    comment_row: str

    @property
    def given(self) -> "NewMark":
        """What a person has given so far."""
        return NewMark(self.score.manual, self.comment.manual, self.score.needs_marking)


@dataclass(frozen=True, slots=True)
class NewMark:
    """What a person gives: points (None for those of the grader), a comment, and whether the cell still waits."""

    points: float | None
    comment: str | None
    needs_marking: bool


@dataclass(frozen=True, slots=True)
class CellCount:
    """How many students have a row for a cell, wait for a person, and were given points by one; the maximum."""

    students: int
    waiting: int
    given: int
    most: float


class MarkBook:
    """The marks of one assignment; use it from one thread."""

    def __init__(self, course_dir: CourseDir, assignment: str) -> None:
        """Open the gradebook of a course; raise GraderError if it has no such assignment or cannot be read."""
        course_dir.make_gradebook()
        url = str(course_dir.directory.db_url)
        options = {"timeout": LOCK_SECONDS} if url.startswith("sqlite") else {}
        self._engine = engine_at(url, connect_args=options, pool_pre_ping=url.startswith("postgresql"))
        self._late_penalty = LatePenalty(course_dir.config)
        self._course_dir, self._assignment = course_dir, assignment
        self._notebook_mb = Limits(config=course_dir.config).notebook_mb
        with self._connected() as connection:
            found = connection.scalar(select(api.Assignment.id).filter_by(name=assignment))
        if found is None:
            raise GraderError(f"the gradebook has no assignment '{assignment}': run 'grader grade {assignment}' first")
        self._assignment_id = found

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def counts(self) -> dict[CellName, CellCount]:
        """Return how far the marking of each graded cell is; cells without a row are missing."""
        grade, cell = api.Grade, api.BaseCell.__table__
        waits = func.sum(case((grade.needs_manual_grade, 1), else_=0))
        query = select(api.Notebook.name, cell.c.name, func.count(), waits, func.count(grade.manual_score))
        code, task = api.GradeCell.__table__, api.TaskCell.__table__
        query = query.add_columns(func.max(func.coalesce(code.c.max_score, task.c.max_score, 0.0)))
        query = query.select_from(grade).join(cell, cell.c.id == grade.cell_id)
        query = query.join(api.Notebook, api.Notebook.id == cell.c.notebook_id)
        query = query.outerjoin(code, code.c.id == cell.c.id).outerjoin(task, task.c.id == cell.c.id)
        query = query.join(api.SubmittedNotebook, api.SubmittedNotebook.id == grade.notebook_id)
        query = query.where(api.Notebook.assignment_id == self._assignment_id)
        query = query.group_by(api.Notebook.name, cell.c.name)
        with self._connected() as connection:
            query = query.where(api.SubmittedNotebook.assignment_id.not_in(self._pending(connection)))
            return {(notebook, name): CellCount(*row) for notebook, name, *row in connection.execute(query)}

    def read(self, cell: CellName, comment_on: str = "") -> dict[str, StudentMark]:
        """Return the rows of a cell by student.

        Args:
            cell: the names of the notebook and the cell.
            comment_on: the name of the cell with the comments, if it is another one.
        """
        with self._connected() as connection:
            return self._read(connection, cell, comment_on)

    def write(
        self, changes: Sequence[tuple[StudentMark, NewMark]], before_commit: Callable[[], None] = lambda: None
    ) -> None:
        """Write marks, all of them or none, in one transaction; late penalties follow, as in a class run.

        Args:
            changes: the rows as they were read, and what to give.
            before_commit: is called when everything is written and can still be taken back, by an exception.

        Raises:
            MarkChanged: a row or a submission has changed since it was read.
            GraderError: the gradebook cannot be written.
        """
        with self._connected() as connection:
            for before, after in changes:
                self._replace(connection, before, after)
            self._penalise(connection, [before.row for before, _ in changes])
            before_commit()
            connection.commit()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Yield a connection, which is rolled back at the end of the block unless it was committed."""
        try:
            with self._engine.connect() as connection:
                yield connection
        except DatabaseError as error:
            raise GraderError(
                f"the gradebook cannot be read or written ({one_line(error.orig)}): close the program that is using "
                "it, or make its file writable and free some disk space, and try again; nothing was changed"
            ) from error

    def _read(self, connection: Connection, cell: CellName, comment_on: str) -> dict[str, StudentMark]:
        notebook, name = cell
        grade, comment, row = api.Grade, api.Comment, api.SubmittedNotebook
        code, task = api.GradeCell.__table__, api.TaskCell.__table__
        base, said = api.BaseCell.__table__, api.BaseCell.__table__.alias()
        # nbgrader knows a written answer by two ids, and its comment belongs to the second one.
        is_answer = and_(said.c.name == (comment_on or name), said.c.type.in_(("SolutionCell", "TaskCell")))
        query = (
            select(
                api.SubmittedAssignment.student_id, api.SubmittedAssignment.timestamp, grade.id, grade.auto_score,
                grade.manual_score, grade.extra_credit, grade.needs_manual_grade, comment.id, comment.auto_comment,
                comment.manual_comment, func.coalesce(code.c.max_score, task.c.max_score, 0.0), code.c.cell_type,
            )
            .select_from(grade)
            .join(base, base.c.id == grade.cell_id)
            .join(row, row.id == grade.notebook_id)
            .join(api.SubmittedAssignment, api.SubmittedAssignment.id == row.assignment_id)
            .join(api.Notebook, api.Notebook.id == base.c.notebook_id)
            .outerjoin(code, code.c.id == base.c.id)
            .outerjoin(task, task.c.id == base.c.id)
            .outerjoin(said, and_(said.c.notebook_id == api.Notebook.id, is_answer))
            .outerjoin(comment, and_(comment.notebook_id == row.id, comment.cell_id == said.c.id))
            .where(api.Notebook.assignment_id == self._assignment_id)
            .where(api.Notebook.name == notebook, base.c.name == name)
            .where(api.SubmittedAssignment.id.not_in(self._pending(connection)))
        )  # fmt: skip
        return {
            student: StudentMark(
                student, CellScore(most, auto, manual, extra, bool(waits), kind == "code"),
                Comment(auto_comment, manual_comment), time, key, comment_key or "",
            )
            for student, time, key, auto, manual, extra, waits, comment_key, auto_comment, manual_comment, most, kind
            in connection.execute(query)
        }  # fmt: skip

    def _pending(self, connection: Connection) -> list[str]:
        """Return the ids of submissions that exist for an extension alone: there is no answer in them.

        One of written answers alone has no points either until it is marked, but grading left its notebooks.
        """
        row = api.SubmittedAssignment
        query = select(row.id, row.student_id).where(row.id.in_(pending_submissions(self._assignment_id)))
        folder = self._course_dir.folder
        return [
            key for key, name in connection.execute(query) if not folder("autograded", self._assignment, name).exists()
        ]

    def _replace(self, connection: Connection, before: StudentMark, after: NewMark) -> None:
        """Write a mark if the database still has what the person saw: points, comment and submission."""
        grade, comment, score = api.Grade.__table__, api.Comment.__table__, before.score
        submission, own = api.SubmittedAssignment.__table__, api.SubmittedNotebook.__table__
        same_submission = exists().where(
            own.c.id == grade.c.notebook_id, submission.c.id == own.c.assignment_id,
            submission.c.timestamp.is_not_distinct_from(before.handed_in),
        )  # fmt: skip
        done = connection.execute(
            update(grade)
            .where(
                grade.c.id == before.row, same_submission,
                _same(grade.c.auto_score, score.auto), _same(grade.c.manual_score, score.manual),
                _same(grade.c.extra_credit, score.extra), grade.c.needs_manual_grade == score.needs_marking,
            )
            .values(manual_score=after.points, needs_manual_grade=after.needs_marking)
        )  # fmt: skip
        if done.rowcount != 1:
            raise MarkChanged(before.student)
        if not before.comment_row:
            if after.comment:
                raise GraderError("this cell has no place for a comment in the gradebook: give points alone")
            return
        done = connection.execute(
            update(comment)
            .where(comment.c.id == before.comment_row, _same(comment.c.manual_comment, before.comment.manual))
            .values(manual_comment=after.comment)
        )
        if done.rowcount != 1:
            raise MarkChanged(before.student)

    def _penalise(self, connection: Connection, rows: list[str]) -> None:
        """Compute the late penalties of the notebooks of changed rows that are late, or had a penalty so far."""
        # People mark for days, and the due date may move meanwhile.
        due = connection.scalar(select(api.Assignment.duedate).filter_by(id=self._assignment_id))
        own, submission, grade = api.SubmittedNotebook, api.SubmittedAssignment, api.Grade
        concerned = [own.late_submission_penalty.is_not(None)]
        if due is not None:
            concerned += [submission.extension.is_not(None), submission.timestamp > due]
        marked = select(grade.notebook_id).where(grade.id.in_(rows))
        query = select(own.id, submission.student_id, api.Notebook.name, submission.timestamp, submission.extension)
        query = query.join(submission, submission.id == own.assignment_id)
        query = query.join(api.Notebook, api.Notebook.id == own.notebook_id)
        for key, student, notebook, time, extension in connection.execute(
            query.where(own.id.in_(marked), or_(*concerned))
        ).all():
            # A notebook that was handed in alone has a time of its own, as in a class run.
            times = notebook_times(self._course_dir.handed_in(self._assignment, student), self._notebook_mb)
            seconds = seconds_late(times.get(notebook, time), due, extension)
            points = connection.scalar(select(func.sum(grade.score)).where(grade.notebook_id == key)) or 0.0
            penalty, table = self._late_penalty.of(student, points, seconds), api.SubmittedNotebook.__table__
            connection.execute(update(table).where(table.c.id == key).values(late_submission_penalty=penalty))


def _same(column: Any, value: object) -> Any:
    return column.is_(None) if value is None else column == value
