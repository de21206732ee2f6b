"""Reads the gradebook: what students have in an assignment, counted as nbgrader counts it. Nothing else reads scores.

    gradebook --> Ledger: due, by_student --> SubmissionScore --> NotebookScore --> CellScore, if asked for

The rules stand here and in rules.py, once each: lateness, penalty, what counts, which points come from tests.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, Select, case, func, select
from sqlalchemy.orm import Session

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import after_penalty, due_for, seconds_late
from grader.errors import GraderError


@dataclass(frozen=True, slots=True)
class CellScore:
    """A cell in the gradebook: the points of the grader and of a person, extra credit, and the points that count.

    `points` are 0 if there are none yet, out of `max_points`. `needs_marking` is true while a person has to mark it.
    """

    auto: float | None
    manual: float | None
    extra: float | None
    points: float
    max_points: float
    needs_marking: bool

    @property
    def is_scored(self) -> bool:
        """Whether the grader or a person gave points, be they 0."""
        return self.auto is not None or self.manual is not None


@dataclass(slots=True)
class NotebookScore:
    """Points of a notebook from tests and of written answers, the answers that wait for marking, and the penalty."""

    tests: float = 0.0
    max_tests: float = 0.0
    written: float = 0.0
    max_written: float = 0.0
    needs_marking: int = 0
    penalty: float = 0.0
    cells: dict[str, CellScore] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """The points before a penalty, with extra credit."""
        return self.tests + self.written

    @property
    def max_points(self) -> float:
        """The points that all cells can give."""
        return self.max_tests + self.max_written


@dataclass(slots=True)
class SubmissionScore:
    """A student's points in an assignment, and the times (in UTC) on which a late penalty depends."""

    student: str
    handed_in: datetime | None = None
    extension: timedelta | None = None
    seconds_late: float = 0.0
    notebooks: dict[str, NotebookScore] = field(default_factory=dict)

    @property
    def tests(self) -> float:
        """The points from tests."""
        return self._sum("tests")

    @property
    def max_tests(self) -> float:
        """The points that tests can give."""
        return self._sum("max_tests")

    @property
    def written(self) -> float:
        """The points of written answers."""
        return self._sum("written")

    @property
    def max_written(self) -> float:
        """The points that written answers can give."""
        return self._sum("max_written")

    @property
    def points(self) -> float:
        """All points before a penalty, with extra credit."""
        return self._sum("points")

    @property
    def max_points(self) -> float:
        """The points that all cells can give."""
        return self._sum("max_points")

    @property
    def penalty(self) -> float:
        """The points that a late submission loses."""
        return self._sum("penalty")

    @property
    def counted(self) -> float:
        """The points that count, as `nbgrader export` gives them."""
        return after_penalty(self.points, self.penalty)

    @property
    def needs_marking(self) -> int:
        """How many answers wait for a person."""
        return sum(notebook.needs_marking for notebook in self.notebooks.values())

    def _sum(self, name: str) -> float:
        return sum((getattr(notebook, name) for notebook in self.notebooks.values()), 0.0)


@dataclass(frozen=True)
class Ledger:
    """An assignment in the gradebook.

    Args:
        assignment: its name.
        due: its due date in UTC.
        max_points: the points that each graded cell can give, by notebook and grade_id.
        students: all students of the course, or the one that was asked for.
        by_student: the submissions; a student who is missing has handed in nothing.
    """

    assignment: str
    due: datetime | None
    max_points: dict[str, dict[str, float]]
    students: frozenset[str]
    by_student: dict[str, SubmissionScore]

    @property
    def max_score(self) -> float:
        """The points that the assignment can give."""
        return sum((points for cells in self.max_points.values() for points in cells.values()), 0.0)

    def of(self, student: str) -> SubmissionScore:
        """Return what a student has, which is nothing without a submission."""
        return self.by_student.get(student) or SubmissionScore(student)


def read_ledger(course_dir: CourseDir, assignment: str, *, cells: bool = False, is_new: bool = False) -> Ledger:
    """Return what the gradebook has of an assignment.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        cells: whether to read each cell.
        is_new: whether the gradebook may not have the assignment yet, which is then empty.

    Raises:
        GraderError: the gradebook does not have the assignment, or cannot be read.
    """
    with course_dir.gradebook() as gradebook:
        return ledger_of(gradebook.db, assignment, cells=cells, is_new=is_new)


def ledger_of(
    database: Session, assignment: str, *, student: str = "", cells: bool = False, is_new: bool = False
) -> Ledger:
    """Return what an open gradebook has of an assignment.

    Args:
        database: the gradebook's session.
        assignment: the assignment's name.
        student: if not empty, the only student who is read.
        cells: whether to read each cell.
        is_new: whether the gradebook may not have the assignment yet, which is then empty.

    Raises:
        GraderError: the gradebook does not have the assignment.
    """
    everyone = select(api.Student.id).filter_by(**{"id": student} if student else {})
    students = frozenset(database.scalars(everyone))
    entry = database.execute(select(api.Assignment.id, api.Assignment.duedate).filter_by(name=assignment)).first()
    if entry is None and is_new:
        return Ledger(assignment, None, {}, students, {})
    if entry is None:
        names = ", ".join(sorted(database.scalars(select(api.Assignment.name)))) or "none yet"
        raise GraderError(
            f"the gradebook has no assignment '{assignment}' (there is {names}): run 'grader grade' first"
        )
    table = api.SubmittedAssignment
    wanted = select(table.id, table.student_id, table.timestamp, table.extension).filter_by(assignment_id=entry.id)
    if student:
        wanted = wanted.filter_by(student_id=student)
    scores = {
        row: SubmissionScore(name, time, extension, seconds_late(time, entry.duedate, extension))
        for row, name, time, extension in database.execute(wanted)
    }
    submitted = select(api.SubmittedNotebook.assignment_id, api.Notebook.name).join(
        api.Notebook, api.Notebook.id == api.SubmittedNotebook.notebook_id
    )
    submitted = submitted.where(api.SubmittedNotebook.assignment_id.in_(wanted.with_only_columns(table.id)))
    for submission, name, *sums in database.execute(_with_sums(submitted)):
        scores[submission].notebooks[name] = NotebookScore(*sums)
    most = _max_points(database, entry.id)
    if cells:
        for submission, name, cell, score in _cells(database, submitted, most):
            scores[submission].notebooks[name].cells[cell] = score
    return Ledger(assignment, entry.duedate, most, students, {each.student: each for each in scores.values()})


def due_of(connection: Connection, assignment: str, student: str) -> datetime | None:
    """Return until when a student may hand in, in UTC; None for any time, or for an assignment that is not known.

    Args:
        connection: to the gradebook.
        assignment: the assignment's name.
        student: the student's name.
    """
    submission = api.SubmittedAssignment
    own = (submission.assignment_id == api.Assignment.id) & (submission.student_id == student)
    query = select(api.Assignment.duedate, submission.extension).outerjoin(submission, own)
    row = connection.execute(query.where(api.Assignment.name == assignment)).first()
    return due_for(row.duedate, row.extension) if row else None


def _with_sums(submitted: Select[Any]) -> Select[Any]:
    """The query with the fields of NotebookScore; nbgrader's own sums ask for the same rows many times over."""
    code, task = api.GradeCell.__table__, api.TaskCell.__table__
    is_test = code.c.cell_type == "code"
    most = func.coalesce(code.c.max_score, task.c.max_score, 0.0)

    def total(condition: Any, points: Any) -> Any:
        return func.coalesce(func.sum(case((condition, points), else_=0.0)), 0.0)

    key, name, penalty = *submitted.selected_columns, api.SubmittedNotebook.late_submission_penalty
    is_written = func.coalesce(code.c.cell_type, "") != "code"
    grade = api.Grade
    return (
        submitted.add_columns(
            total(is_test, grade.score), total(is_test, most), total(is_written, grade.score), total(is_written, most),
            func.coalesce(func.sum(case((grade.needs_manual_grade, 1), else_=0)), 0), func.coalesce(penalty, 0.0),
        )
        .outerjoin(grade, grade.notebook_id == api.SubmittedNotebook.id)
        .outerjoin(code, code.c.id == grade.cell_id)
        .outerjoin(task, task.c.id == grade.cell_id)
        .group_by(api.SubmittedNotebook.id, key, name, penalty)
    )  # fmt: skip


def _max_points(database: Session, assignment_id: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for kind in (api.GradeCell.__table__, api.TaskCell.__table__):
        cell, notebook = api.BaseCell.__table__, api.Notebook
        query = select(notebook.name, cell.c.name, kind.c.max_score).join(cell, cell.c.notebook_id == notebook.id)
        query = query.join(kind, kind.c.id == cell.c.id).where(notebook.assignment_id == assignment_id)
        for own, name, points in database.execute(query):
            found.setdefault(own, {})[name] = points
    return found


def _cells(
    database: Session, submitted: Select[Any], most: dict[str, dict[str, float]]
) -> Iterator[tuple[str, str, str, CellScore]]:
    """Each cell with the id of its submission, its notebook and its grade_id."""
    grade, cell = api.Grade, api.BaseCell.__table__
    columns = (grade.auto_score, grade.manual_score, grade.extra_credit, grade.score, grade.needs_manual_grade)
    query = submitted.add_columns(cell.c.name, *columns).join(grade, grade.notebook_id == api.SubmittedNotebook.id)
    query = query.join(cell, cell.c.id == grade.cell_id)
    for submission, notebook, name, auto, manual, extra, points, waits in database.execute(query):
        score = CellScore(auto, manual, extra, points, most[notebook].get(name, 0.0), bool(waits))
        yield submission, notebook, name, score
