"""Reads from the gradebook what each student earned in an assignment, counted as `nbgrader export` counts it."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nbgrader.api import MissingEntry, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select

from grader.classroom.course_dir import CourseDir
from grader.errors import GraderError


@dataclass(frozen=True)
class Grade:
    """A student's points in an assignment; without a submission they are zero.

    `raw_score` has extra credit and no penalty in it. `notebooks` has the points of each, and its maximum.
    """

    timestamp: datetime | None = None
    raw_score: float = 0.0
    penalty: float = 0.0
    needs_marking: bool = False
    is_submitted: bool = False
    notebooks: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """The points that count."""
        return max(0.0, self.raw_score - self.penalty)

    def words(self) -> str:
        """Return a comment: the points of each notebook, and the penalty."""
        if not self.is_submitted:
            return "not handed in"
        parts = [f"{name}: {score:g} of {most:g}" for name, (score, most) in sorted(self.notebooks.items())]
        return "; ".join([*parts, *([f"late: {self.penalty:g} points taken off"] if self.penalty else [])])


@dataclass(frozen=True)
class Grades:
    """The grades of an assignment by student; who is missing has handed in nothing."""

    assignment: str
    duedate: datetime | None
    max_score: float
    by_student: dict[str, Grade]

    def of(self, student: str) -> Grade:
        """Return a student's grade."""
        return self.by_student.get(student, Grade())


def read_grades(course_dir: CourseDir, assignment: str) -> Grades:
    """Return the grades of all students in an assignment; raise GraderError if the gradebook does not have it."""
    with course_dir.gradebook() as gradebook:
        try:
            entry = gradebook.find_assignment(assignment)
        except MissingEntry:
            names = ", ".join(sorted(entry.name for entry in gradebook.assignments)) or "none yet"
            raise GraderError(
                f"the gradebook has no assignment '{assignment}' (there is {names}): run 'grader grade' first"
            ) from None
        # nbgrader's own sums, for all students in one question.
        columns = ("student_id", "timestamp", "score", "late_submission_penalty", "needs_manual_grade")
        wanted = [getattr(SubmittedAssignment, column) for column in columns]
        rows = gradebook.db.execute(select(*wanted).where(SubmittedAssignment.assignment_id == entry.id)).all()
        notebooks = _notebooks(gradebook.db, entry.id)
        by_student = {
            student: Grade(time, score, penalty or 0.0, bool(waits), is_submitted=True, notebooks=notebooks[student])
            for student, time, score, penalty, waits in rows
        }
        return Grades(assignment, entry.duedate, entry.max_score, by_student)


def _notebooks(database: Any, assignment_id: str) -> dict[str, dict[str, tuple[float, float]]]:
    """The points of each notebook and those it can give, by student."""
    submissions = select(SubmittedAssignment.id, SubmittedAssignment.student_id)
    student_of = dict(database.execute(submissions.where(SubmittedAssignment.assignment_id == assignment_id)).all())
    most = select(Notebook.id, Notebook.name, Notebook.max_score).where(Notebook.assignment_id == assignment_id)
    notebook_of = {key: (name, points) for key, name, points in database.execute(most)}
    found: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    columns = (SubmittedNotebook.assignment_id, SubmittedNotebook.notebook_id, SubmittedNotebook.score)
    for submission, notebook, score in database.execute(
        select(*columns).where(SubmittedNotebook.notebook_id.in_(notebook_of))
    ):
        name, points = notebook_of[notebook]
        found[student_of[submission]][name] = score, points
    return found
