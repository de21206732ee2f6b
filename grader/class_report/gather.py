"""Reads what grading left behind: the gradebook, and the records beside the autograded notebooks.

gradebook --> rows of students and cells          autograded/ --> records          source/ --> exercises in order
                                         all --> Gathered
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from nbformat import NotebookNode
from nbgrader import api
from sqlalchemy import select

from grader.class_report.model import ExercisePoints, Student
from grader.classroom.course_dir import CourseDir
from grader.classroom.records import NotebookRecord, ResultRecord, read_record
from grader.classroom.results import COMPLETION_MARKER
from grader.limits import Limits
from grader.notebook.files import read_sources
from grader.notebook.outline import GRADED, Outline


@dataclass(frozen=True)
class AssignmentOutline:
    """The exercises of an assignment, in order: the notebook of each exercise, its points, and which are questions."""

    sources: dict[str, NotebookNode]
    notebook_of: dict[str, str] = field(default_factory=dict)
    points: dict[str, float] = field(default_factory=dict)
    questions: set[str] = field(default_factory=set)
    exercise_of: dict[str, str] = field(default_factory=dict)
    """The exercise of each graded cell."""


@dataclass(frozen=True)
class Gathered:
    """The class: students in order of their names, and beside each the records of the notebooks that were graded."""

    outline: AssignmentOutline
    students: list[Student]
    records: list[dict[str, NotebookRecord]]
    remarks: list[list[str]]
    missing: list[str]
    ungraded: list[str]
    due: datetime | None

    def results(self) -> "list[dict[str, list[ResultRecord]]]":
        """Return the results of each student's tests, by exercise."""
        found = []
        for notebooks in self.records:
            by_exercise: dict[str, list[ResultRecord]] = defaultdict(list)
            for record in notebooks.values():
                for test in record.tests:
                    by_exercise[test.exercise].append(test)
            found.append(by_exercise)
        return found


def gather(course_dir: CourseDir, assignment: str) -> Gathered:
    """Return everything that is known of a class.

    Args:
        course_dir: the course folder.
        assignment: the assignment's name.

    Raises:
        GraderError: there is no such assignment, or the gradebook cannot be read.
    """
    folder = course_dir.require(assignment)
    outline = outlined(read_sources(folder, Limits(config=course_dir.config).notebook_mb))
    rows, roster, due = _read_gradebook(course_dir, assignment)
    students, records, remarks, ungraded = [], [], [], []
    for name in sorted(rows):
        place = course_dir.folder("autograded", assignment, name)
        found = {notebook: kept for notebook in outline.sources if (kept := read_record(place, notebook)) is not None}
        graded = {path.stem for path in place.glob("*.ipynb")} & outline.sources.keys()
        if graded - found.keys():
            ungraded.append(name)
        troubles, said = _marker(place)
        students.append(_student(name, rows[name], found, outline, troubles))
        records.append(found)
        remarks.append(said)
    handed_in = set(course_dir.submitters(assignment))
    ungraded += sorted(handed_in - rows.keys())
    missing = sorted(roster - rows.keys() - handed_in)
    return Gathered(outline, students, records, remarks, missing, ungraded, due)


def outlined(sources: dict[str, NotebookNode]) -> AssignmentOutline:
    """Return the exercises of an assignment, in order.

    Args:
        sources: its notebooks by name.
    """
    found = AssignmentOutline(sources)
    for notebook, source in sources.items():
        outline = Outline(source)
        for exercise in outline.exercises.values():
            found.notebook_of[exercise.name] = notebook
            found.points[exercise.name] = exercise.points
            if exercise.is_question:
                found.questions.add(exercise.name)
        graded = (number for number, kind in enumerate(outline.types) if kind in GRADED)
        found.exercise_of.update({outline.names[number]: outline.exercise_at[number] for number in graded})
    return found


@dataclass
class _Row:
    """A submission in the gradebook: time, lateness in seconds, penalty, and points of each graded cell.

    A cell's points are None until someone or something has given some; with them stands whether it waits for marking.
    """

    timestamp: datetime | None
    seconds_late: float
    penalty: float = 0.0
    cells: dict[str, tuple[float | None, bool]] = field(default_factory=dict)


def _read_gradebook(course_dir: CourseDir, assignment: str) -> tuple[dict[str, _Row], set[str], datetime | None]:
    """Return the rows by student, the names of all students, and the due date."""
    with course_dir.gradebook() as gradebook:
        database = gradebook.db
        roster = set(database.scalars(select(api.Student.id)))
        entry = database.scalar(select(api.Assignment).where(api.Assignment.name == assignment))
        if entry is None:
            return {}, roster, None
        # nbgrader's own summaries ask for the same rows many times over.
        submission, notebook, grade, cell = api.SubmittedAssignment, api.SubmittedNotebook, api.Grade, api.BaseCell
        of_assignment = submission.assignment_id == entry.id
        times = select(submission.student_id, submission.timestamp, submission.extension).where(of_assignment)
        rows = {
            student: _Row(timestamp, _seconds_late(timestamp, entry.duedate, extension))
            for student, timestamp, extension in database.execute(times)
        }
        penalties = select(submission.student_id, notebook.late_submission_penalty).join(
            notebook, notebook.assignment_id == submission.id
        )
        for student, penalty in database.execute(penalties.where(of_assignment)):
            rows[student].penalty += penalty or 0.0
        points = (
            select(
                submission.student_id, cell.name, grade.auto_score, grade.manual_score, grade.extra_credit,
                grade.needs_manual_grade,
            )
            .join(notebook, notebook.assignment_id == submission.id)
            .join(grade, grade.notebook_id == notebook.id)
            .join(cell, cell.id == grade.cell_id)
        )  # fmt: skip
        for student, name, auto, manual, extra, needs_marking in database.execute(points.where(of_assignment)):
            score = auto if manual is None else manual
            rows[student].cells[name] = None if score is None else score + (extra or 0.0), bool(needs_marking)
        return rows, roster, entry.duedate


def _seconds_late(timestamp: datetime | None, due: datetime | None, extension: timedelta | None) -> float:
    if timestamp is None or due is None:
        return 0.0
    return max(0.0, (timestamp - due - (extension or timedelta())).total_seconds())


def _student(
    name: str, row: _Row, records: dict[str, NotebookRecord], outline: AssignmentOutline, troubles: list[str]
) -> Student:
    blank = {each for record in records.values() for each in record.unanswered}
    points: dict[str, float | None] = dict.fromkeys(outline.points)
    for cell, (score, _) in row.cells.items():
        if score is not None and (exercise := outline.exercise_of.get(cell)) is not None:
            points[exercise] = (points[exercise] or 0.0) + score
    return Student(
        name,
        points=max(0.0, sum(each or 0.0 for each in points.values()) - row.penalty),
        max_points=sum(outline.points.values()),
        handed_in=row.timestamp.isoformat(timespec="seconds") if row.timestamp else "",
        seconds_late=row.seconds_late,
        penalty=row.penalty,
        needs_marking=sum(needs_marking for _, needs_marking in row.cells.values()),
        exercises=[
            ExercisePoints(
                each, points[each], outline.points[each], outline.notebook_of[each] in records and each not in blank
            )
            for each in outline.points
        ],
        troubles=troubles,
    )


def _marker(folder: Path) -> tuple[list[str], list[str]]:
    """The troubles and remarks of a class run, which it keeps with its completion marker."""
    try:
        marker = json.loads((folder / COMPLETION_MARKER).read_bytes())
        return marker["troubles"], marker["remarks"]
    except (OSError, ValueError, KeyError):
        return [], []
