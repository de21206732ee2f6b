"""Reads what grading left behind: the gradebook, and the records beside the autograded notebooks.

gradebook --> rows of students and cells          autograded/ --> records          source/ --> exercises in order
                                         all --> Gathered
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from nbformat import NotebookNode

from grader.classroom.course_dir import CourseDir
from grader.classroom.gradebook.reader import SubmissionScore, read_ledger
from grader.classroom.page.result_files import NotebookRecord, read_record
from grader.classroom.results import completion_marker
from grader.commands.report.model import Exercise, ExercisePoints, Student
from grader.engine.limits import Limits
from grader.engine.notebook.files import read_sources
from grader.engine.notebook.outline import GRADED, Outline
from grader.engine.report import Result


@dataclass(frozen=True)
class AssignmentOutline:
    """The exercises of an assignment, in order, before they have shares, and the exercise of each graded cell."""

    sources: dict[str, NotebookNode]
    exercises: dict[str, Exercise] = field(default_factory=dict)
    exercise_of: dict[str, str] = field(default_factory=dict)

    def notebook_of(self, exercise: str) -> str:
        """Return the notebook of an exercise; '' if it is in none."""
        return self.exercises[exercise].notebook if exercise in self.exercises else ""


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

    def results(self) -> "list[dict[str, list[Result]]]":
        """Return the results of each student's tests, by exercise."""
        found = []
        for notebooks in self.records:
            by_exercise: dict[str, list[Result]] = defaultdict(list)
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
    ledger = read_ledger(course_dir, assignment, cells=True, is_new=True)
    rows = ledger.by_student
    students, records, remarks, ungraded = [], [], [], []
    for name in sorted(rows):
        place = course_dir.folder("autograded", assignment, name)
        found = {notebook: kept for notebook in outline.sources if (kept := read_record(place, notebook)) is not None}
        graded = {path.stem for path in place.glob("*.ipynb")} & outline.sources.keys()
        if graded - found.keys():
            ungraded.append(name)
        marker = completion_marker(course_dir, assignment, name) or {}
        students.append(_student(rows[name], found, outline, marker.get("troubles", [])))
        records.append(found)
        remarks.append(marker.get("remarks", []))
    handed_in = set(course_dir.submitters(assignment))
    ungraded += sorted(handed_in - rows.keys())
    missing = sorted(ledger.students - rows.keys() - handed_in)
    return Gathered(outline, students, records, remarks, missing, ungraded, ledger.due)


def outlined(sources: dict[str, NotebookNode]) -> AssignmentOutline:
    """Return the exercises of an assignment, in order.

    Args:
        sources: its notebooks by name.
    """
    found = AssignmentOutline(sources)
    for notebook, source in sources.items():
        outline = Outline(source)
        for name, known in outline.exercises.items():
            points = outline.max_points(name)
            found.exercises[name] = Exercise(name, notebook, points, [], is_question=known.is_question)
        graded = (number for number, kind in enumerate(outline.types) if kind in GRADED)
        found.exercise_of.update({outline.names[number]: outline.exercise_at[number] for number in graded})
    return found


def _student(
    score: SubmissionScore, records: dict[str, NotebookRecord], outline: AssignmentOutline, troubles: list[str]
) -> Student:
    blank = {each for record in records.values() for each in record.unanswered}
    exercises = {
        name: ExercisePoints(name, None, each.max_points, each.notebook in records and name not in blank)
        for name, each in outline.exercises.items()
    }
    cells = {name: cell for notebook in score.notebooks.values() for name, cell in notebook.cells.items()}
    for cell, given in cells.items():
        if given.is_scored and (exercise := outline.exercise_of.get(cell)) is not None:
            exercises[exercise].points = (exercises[exercise].points or 0.0) + given.points
    total = score.total
    return Student(
        score.student,
        points=total.counted,
        max_points=sum(each.max_points for each in outline.exercises.values()),
        handed_in=score.handed_in.isoformat(timespec="seconds") if score.handed_in else "",
        seconds_late=score.seconds_late,
        penalty=total.penalty,
        needs_marking=total.needs_marking,
        exercises=list(exercises.values()),
        troubles=troubles,
    )
