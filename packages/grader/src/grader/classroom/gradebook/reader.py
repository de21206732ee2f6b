"""Reads the scores of an assignment from the gradebook, counted as nbgrader counts them. Nothing else reads scores.

    gradebook --> Ledger: due, by_student --> SubmissionScore --> NotebookScore --> CellScore, if asked for

Each rule is here or in rules.py, once: lateness, penalty, counted points, points from tests.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from nbgrader import api
from sqlalchemy import Connection, Select, case, func, or_, select
from sqlalchemy.orm import Session

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.rules import CellScore, NotebookScore, due_for, seconds_late, total
from grader.classroom.source.basis import Part
from grader.errors import GraderError


@dataclass(slots=True)
class SubmissionScore:
    """A student's scores in an assignment, by notebook, and the times (in UTC) on which a late penalty depends.

    `outdated` is what has changed since the scores were given, where a reader has asked `inputs.mark_outdated`.
    """

    student: str
    handed_in: datetime | None = None
    extension: timedelta | None = None
    seconds_late: float = 0.0
    notebooks: dict[str, NotebookScore] = field(default_factory=dict)
    outdated: frozenset[Part] = frozenset()

    @property
    def total(self) -> NotebookScore:
        """The sums of the notebooks."""
        return total(self.notebooks.values())


@dataclass(frozen=True)
class Ledger:
    """An assignment in the gradebook.

    Args:
        assignment: its name.
        due: its due date in UTC.
        blank: the score of empty notebooks: each graded cell without points.
        students: all students of the course, or the requested one.
        by_student: the submissions; a missing student has not submitted.
        pending: students who have not submitted, and have rows in the gradebook because of an extension.
    """

    assignment: str
    due: datetime | None
    blank: SubmissionScore
    students: frozenset[str]
    by_student: dict[str, SubmissionScore]
    pending: dict[str, SubmissionScore] = field(default_factory=dict)

    def of(self, student: str) -> SubmissionScore:
        """Return a student's scores, empty without a submission."""
        return self.by_student.get(student) or self.pending.get(student) or SubmissionScore(student)


def read_ledger(course_dir: CourseDir, assignment: str, *, cells: bool = False, is_new: bool = False) -> Ledger:
    """Read an assignment from the gradebook.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.
        cells: whether to read each cell.
        is_new: whether the assignment may be missing, and is then empty.

    Raises:
        GraderError: the gradebook does not have the assignment, or cannot be read.
    """
    with course_dir.gradebook() as gradebook:
        return ledger_of(gradebook.db, assignment, cells=cells, is_new=is_new)


def ledger_of(
    database: Session, assignment: str, *, student: str = "", cells: bool = False, is_new: bool = False
) -> Ledger:
    """Read an assignment from an open gradebook.

    Args:
        database: the gradebook's session.
        assignment: the assignment's name.
        student: if not empty, the only student to read.
        cells: whether to read each cell.
        is_new: whether the assignment may be missing, and is then empty.

    Raises:
        GraderError: the gradebook does not have the assignment.
    """
    everyone = select(api.Student.id).filter_by(**{"id": student} if student else {})
    students = frozenset(database.scalars(everyone))
    entry = database.execute(select(api.Assignment.id, api.Assignment.duedate).filter_by(name=assignment)).first()
    if entry is None and is_new:
        return Ledger(assignment, None, SubmissionScore(""), students, {})
    if entry is None:
        names = ", ".join(sorted(database.scalars(select(api.Assignment.name)))) or "none yet"
        raise GraderError(f"the gradebook has no assignment '{assignment}' (it has {names}): run 'grader grade' first")
    table = api.SubmittedAssignment
    wanted = select(table.id, table.student_id, table.timestamp, table.extension).filter_by(assignment_id=entry.id)
    if student:
        wanted = wanted.filter_by(student_id=student)
    scores = {
        row: SubmissionScore(name, time, extension, seconds_late(time, entry.duedate, extension))
        for row, name, time, extension in database.execute(wanted)
    }
    pending = {
        row: SubmissionScore(scores[row].student, extension=scores[row].extension)
        for row in database.scalars(pending_submissions(entry.id))
        if row in scores
    }
    submitted = select(api.SubmittedNotebook.assignment_id, api.Notebook.name).join(
        api.Notebook, api.Notebook.id == api.SubmittedNotebook.notebook_id
    )
    submitted = submitted.where(api.SubmittedNotebook.assignment_id.in_(wanted.with_only_columns(table.id)))
    for submission, name, *sums in database.execute(_with_sums(submitted)):
        scores[submission].notebooks[name] = NotebookScore(*sums)
    blank = SubmissionScore("", notebooks=_blank(database, entry.id))
    if cells:
        for submission, name, cell, auto, manual, extra, waits in database.execute(_with_cells(submitted)):
            empty = blank.notebooks[name].cells.get(cell, CellScore(0.0))
            own = CellScore(empty.max_points, auto, manual, extra, bool(waits), empty.is_test)
            scores[submission].notebooks[name].cells[cell] = own
    by_student = {score.student: score for row, score in scores.items() if row not in pending}
    return Ledger(
        assignment, entry.duedate, blank, students, by_student, {each.student: each for each in pending.values()}
    )


def pending_submissions(assignment: str) -> Select[Any]:
    """Return a query for the ids of the submissions of which nothing came in: nbgrader makes them for extensions.

    None of their cells has points, even 0, or waits for some; a graded cell has either.

    Args:
        assignment: the id of the assignment.
    """
    own, grade, table = api.SubmittedNotebook, api.Grade, api.SubmittedAssignment
    is_graded = or_(grade.auto_score.is_not(None), grade.manual_score.is_not(None), grade.needs_manual_grade)
    graded = select(own.id).join(grade, grade.notebook_id == own.id).where(own.assignment_id == table.id, is_graded)
    query = select(table.id).where(table.assignment_id == assignment, table.extension.is_not(None))
    return query.where(table.timestamp.is_(None), ~graded.exists())


def due_of(connection: Connection, assignment: str, student: str) -> datetime | None:
    """Return a student's due date in UTC; None without one, or for an unknown assignment.

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
    """Add the fields of NotebookScore to a query; nbgrader's own sums read the same rows many times."""
    code, task = api.GradeCell.__table__, api.TaskCell.__table__
    is_test = code.c.cell_type == "code"
    most = func.coalesce(code.c.max_score, task.c.max_score, 0.0)

    def points_if(condition: Any, points: Any) -> Any:
        return func.coalesce(func.sum(case((condition, points), else_=0.0)), 0.0)

    key, name, penalty = *submitted.selected_columns, api.SubmittedNotebook.late_submission_penalty
    is_written = func.coalesce(code.c.cell_type, "") != "code"
    grade = api.Grade
    return (
        submitted.add_columns(
            points_if(is_test, grade.score), points_if(is_test, most),
            points_if(is_written, grade.score), points_if(is_written, most),
            func.coalesce(func.sum(case((grade.needs_manual_grade, 1), else_=0)), 0), func.coalesce(penalty, 0.0),
        )
        .outerjoin(grade, grade.notebook_id == api.SubmittedNotebook.id)
        .outerjoin(code, code.c.id == grade.cell_id)
        .outerjoin(task, task.c.id == grade.cell_id)
        .group_by(api.SubmittedNotebook.id, key, name, penalty)
    )  # fmt: skip


def _blank(database: Session, assignment_id: str) -> dict[str, NotebookScore]:
    """Return the graded cells of each notebook of an assignment, without points."""
    found: dict[str, dict[str, CellScore]] = {}
    for kind in (api.GradeCell.__table__, api.TaskCell.__table__):
        cell, notebook = api.BaseCell.__table__, api.Notebook
        query = select(notebook.name, cell.c.name, kind.c.max_score, kind.c.cell_type)
        query = query.join(cell, cell.c.notebook_id == notebook.id)
        query = query.join(kind, kind.c.id == cell.c.id).where(notebook.assignment_id == assignment_id)
        for own, name, points, form in database.execute(query):
            is_test = kind is api.GradeCell.__table__ and form == "code"
            found.setdefault(own, {})[name] = CellScore(points, is_test=is_test)
    return {name: NotebookScore.of(cells, {}) for name, cells in found.items()}


def _with_cells(submitted: Select[Any]) -> Select[Any]:
    """Add each cell's grade_id and grade to a query."""
    grade, cell = api.Grade, api.BaseCell.__table__
    columns = (grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade)
    query = submitted.add_columns(cell.c.name, *columns).join(grade, grade.notebook_id == api.SubmittedNotebook.id)
    return query.join(cell, cell.c.id == grade.cell_id)
